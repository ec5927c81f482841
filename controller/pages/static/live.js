// Keeps a page as it would be if it were loaded now: an event says "look", the page is fetched
// again, and what differs is changed in place. Without this script a reload does it.
"use strict";

(() => {
  const body = document.body;
  const look = body.dataset.look;

  // ---- times in the reader's zone; the exact one on hover -------------------------------------
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
  // h23 and not "no am or pm", which some languages take for 24:05 after midnight
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const hour = new Intl.DateTimeFormat(undefined, { ...clock, second: "2-digit" });
  const soonest = new Intl.DateTimeFormat(undefined, clock);
  const later = new Intl.DateTimeFormat(undefined, { ...clock, year: "numeric", month: "2-digit", day: "2-digit" });
  const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "2-digit", day: "2-digit" });
  const distance = (seconds) => {
    if (seconds < 5) return "just now";
    if (seconds >= 86400) return Math.floor(seconds / 86400) + " d ago";
    if (seconds >= 3600) return Math.floor(seconds / 3600) + " h ago";
    if (seconds >= 60) return Math.floor(seconds / 60) + " min ago";
    return Math.floor(seconds) + " s ago";
  };
  const tell = () => {
    const now = new Date();
    for (const time of document.querySelectorAll("time")) {
      const at = new Date(time.dateTime);
      const today = at.toDateString() === now.toDateString();
      const kind = time.classList;
      const text = kind.contains("clock") ? (today ? hour : day).format(at)
        : kind.contains("moment") ? (today ? soonest : later).format(at)
        : distance((now - at) / 1000);
      if (time.textContent !== text) time.textContent = text;
      time.title = exact.format(at) + "\n" + time.dateTime;
    }
  };
  tell();
  setInterval(tell, 5000);
  body.addEventListener("htmx:afterSwap", tell);

  // ---- changing in place: what somebody has opened, typed or is reading stays -------------------
  Object.assign(Idiomorph.defaults, { ignoreActiveValue: true, restoreFocus: true });
  const isFilledIn = (field) => field.matches("select")
    ? [...field.options].some((option) => option.selected !== option.defaultSelected)
    : field.matches("textarea, input:not([type=checkbox], [type=radio])") && field.value !== field.defaultValue;
  Idiomorph.defaults.callbacks = {
    ...Idiomorph.defaults.callbacks,
    beforeNodeMorphed: (old, fresh) => {
      if (old.nodeType !== 1) return true;
      if (old.hasAttribute("data-keep") || isFilledIn(old)) return false;
      return !(old.tagName === "TIME" && old.dateTime === fresh.dateTime);
    },
    beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS"),
  };
  const follow = () => {
    for (const log of document.querySelectorAll("pre.log")) {
      if (log.dataset.read !== "yes") log.scrollTop = log.scrollHeight;
    }
  };
  document.addEventListener("scroll", (event) => {
    const log = event.target;
    if (!(log instanceof Element) || !log.matches("pre.log")) return;
    const end = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.dataset.read = end ? "no" : "yes";
  }, true);
  follow();

  // ---- rows that are ticked: by what they are, wherever they stand after a change -----------------
  document.documentElement.classList.add("js");
  const picks = (root, which = "") => [...root.querySelectorAll("input[name=pick]" + which)];
  const count = () => {
    const told = document.querySelector(".ticked");
    if (!told) return;
    const ticked = picks(document, ":checked").length;
    told.textContent = ticked ? "With the " + ticked + " ticked" : "With what is ticked";
    const all = document.querySelector("[data-all]");
    all.checked = ticked > 0 && ticked === picks(document).length;
    all.indeterminate = ticked > 0 && !all.checked;
  };
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) for (const one of picks(document)) one.checked = event.target.checked;
    count();
  });
  body.addEventListener("htmx:afterSwap", count);
  count();

  // A menu closes with Escape, and gives the focus back.
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && document.activeElement?.closest("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  const badge = document.getElementById("live-state");
  if (!look || !badge || !window.EventSource) return;

  const say = (word) => {
    badge.hidden = false;
    if (badge.dataset.state === word && badge.textContent) return;
    badge.dataset.state = word;
    badge.textContent = word === "on" ? "live" : "no live line, trying again";
  };

  // ---- fetching the page again, at most once a second --------------------------------------------
  let pending = null;
  let fetching = false;
  let again = false;
  let last = 0;
  const refresh = async () => {
    if (fetching) {
      again = true;
      return;
    }
    fetching = true;
    last = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.redirected || answer.status === 401) return location.reload();
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = fresh.getElementById("main");
      if (!main) return;
      // A sentence about what was just done is read once, and not taken away while it is read.
      const told = document.querySelector("#main > .told");
      if (told && !main.querySelector(".told")) main.prepend(told.cloneNode(true));
      const ticked = new Set(picks(document, ":checked").map((one) => one.value));
      for (const one of picks(main)) one.checked = ticked.has(one.value);
      const all = document.querySelector("input[name=all]");
      if (all?.checked) main.querySelector("input[name=all]")?.setAttribute("checked", "");
      const here = document.getElementById("main");
      Idiomorph.morph(here, main, { morphStyle: "outerHTML" });
      htmx.process(document.getElementById("main"));
      tell();
      follow();
      count();
    } catch {
      // No line just now: the stream says so, and looks again when it is back.
    } finally {
      fetching = false;
      if (again) {
        again = false;
        soon();
      }
    }
  };
  const soon = () => {
    if (pending || look === "none") return;
    pending = setTimeout(() => {
      pending = null;
      refresh();
    }, Math.max(150, 1000 - (Date.now() - last)));
  };
  // Heartbeats are no events, but they move the times of the last answers. A tab in the background
  // waits until it is looked at.
  const OLDEST = 15000;
  const opened = Date.now();
  const renew = () => {
    if (!document.hidden && Date.now() - Math.max(opened, last) >= OLDEST) soon();
  };
  setInterval(renew, 5000);
  document.addEventListener("visibilitychange", renew);

  // ---- one stream for all tabs of this browser ----------------------------------------------------
  // A browser opens six connections to a host; a stream in every tab would leave none for pages.
  const kinds = ["deployment", "placement", "operation", "log", "node", "site", "request", "resync"];
  const [of, name] = look.includes(":") ? look.split(":", 2) : [look, ""];
  const concerns = (kind, data) => {
    if (kind === "log") return of === "operation" ? data.operation === name : of === "deployment";
    if (of === "all" || kind === "resync") return true;
    if (of === "deployment") return data.deployment === name || data.id === name || kind === "request" || kind === "site";
    if (of === "site") return data.site === name || data.name === name;
    return of === "operation" && data.id === name;
  };
  const tabs = new BroadcastChannel("margrave-live");
  let state = "";
  const hear = (told) => {
    if (told.ask) return void (state && tabs.postMessage({ state }));
    if (told.state) {
      if (told.state === "on" && badge.dataset.state === "off" && !badge.hidden) soon();
      return say(told.state);
    }
    if (told.kind && concerns(told.kind, told.data)) soon();
  };
  tabs.onmessage = (event) => hear(event.data);

  const listen = () => {
    let lost = false;
    let stream = null;
    let ended = false;
    const now = (word) => {
      state = word;
      say(word);
      tabs.postMessage({ state });
    };
    const connect = () => {
      if (ended) return;
      stream = new EventSource("/live?last_event_id=" + body.dataset.newest);
      stream.onopen = () => {
        if (lost) soon();
        lost = false;
        now("on");
      };
      stream.onerror = () => {
        lost = true;
        now("off");
        if (stream.readyState !== EventSource.CLOSED) return;
        // A refused stream (too many are open, it is just stopping, signed out) is not tried again
        // by the browser itself; who is signed out learns it from looking.
        soon();
        setTimeout(connect, 3000);
      };
      for (const kind of kinds) {
        stream.addEventListener(kind, (event) => {
          const told = { kind, data: JSON.parse(event.data) };
          hear(told);
          tabs.postMessage(told);
        });
      }
    };
    const close = () => {
      ended = true;
      stream.close();
    };
    connect();
    window.addEventListener("pagehide", close);
    return { close };
  };
  if (navigator.locks) {
    // Who holds the lock listens for all; when that tab is closed the next one takes over.
    navigator.locks.request("margrave-live", () => {
      listen();
      soon(); // what happened between two listeners
      return new Promise(() => {});
    });
    tabs.postMessage({ ask: true });
  } else {
    // Without TLS there are no locks: a tab that nobody looks at gives its connection back.
    let stream = null;
    const seen = () => {
      if (document.hidden) {
        stream?.close();
        stream = null;
      } else if (!stream) {
        stream = listen();
        soon();
      }
    };
    document.addEventListener("visibilitychange", seen);
    seen();
  }
})();
