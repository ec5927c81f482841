// Keeps a page as it would be if it were loaded now: an event says "look", the page is fetched
// again, and its main part takes the place of the old one. Without this script a reload does it.
"use strict";

(() => {
  const url = document.body.dataset.live;
  if (!url || !window.EventSource) return;

  const badge = document.getElementById("live-state");
  let pending = null;
  let fetching = false;
  let again = false;

  const say = (word, text) => {
    badge.hidden = false;
    badge.dataset.state = word;
    badge.textContent = text;
  };

  const keep = (old, fresh) => {
    // What somebody has opened or is typing stays as it is.
    for (const open of old.querySelectorAll("details[open]")) {
      const same = open.id && fresh.querySelector("#" + CSS.escape(open.id));
      if (same) same.open = true;
    }
    const form = old.querySelector("form.filter");
    const freshForm = fresh.querySelector("form.filter");
    if (form && freshForm) freshForm.replaceWith(form);
  };

  const look = async () => {
    if (fetching) {
      again = true;
      return;
    }
    fetching = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.redirected || answer.status === 401) {
        location.reload();
        return;
      }
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const old = document.getElementById("main");
      const main = fresh.getElementById("main");
      if (!main) return;
      keep(old, main);
      const focused = document.activeElement && document.activeElement.id;
      old.replaceChildren(...main.childNodes);
      if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
    } catch {
      // No line just now: the stream says so, and the next event tries again.
    } finally {
      fetching = false;
      if (again) {
        again = false;
        soon();
      }
    }
  };

  const soon = () => {
    if (pending) return;
    pending = setTimeout(() => {
      pending = null;
      look();
    }, 150);
  };

  let lost = false;
  const stream = new EventSource(url);
  stream.onopen = () => {
    say("on", "live");
    if (lost) soon();
    lost = false;
  };
  stream.onerror = () => {
    lost = true;
    say("off", "no live line, trying again");
    // A refused stream (too many are open, or signed out) is not retried by the browser itself.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 15000);
  };
  for (const name of ["deployment", "placement", "operation", "node", "site", "request", "resync"]) {
    stream.addEventListener(name, soon);
  }
  window.addEventListener("pagehide", () => stream.close());

  const distance = (seconds) => {
    if (seconds < 5) return "just now";
    if (seconds >= 86400) return Math.floor(seconds / 86400) + " d ago";
    if (seconds >= 3600) return Math.floor(seconds / 3600) + " h ago";
    if (seconds >= 60) return Math.floor(seconds / 60) + " min ago";
    return Math.floor(seconds) + " s ago";
  };
  setInterval(() => {
    for (const time of document.querySelectorAll("time:not(.clock)")) {
      time.textContent = distance((Date.now() - Date.parse(time.dateTime)) / 1000);
    }
  }, 5000);
})();
