"""What is run on a node at onboarding: POSIX shell, safe to run twice, no secret inside."""

from __future__ import annotations

from typing import Final

from runner.nodes.ownership import Owner

NO_SUDO: Final = 12
NO_USERADD: Final = 13
BAD_SUDOERS: Final = 14

# A file for each runner (margrave-<uuid>): to remove one runner's rights leaves those of others.
SUDOERS: Final = "/etc/sudoers.d/margrave"
FENCE: Final = "/var/lib/margrave/fence.json"
BEACON: Final = "/etc/margrave/beacon.json"

# One line `name=value` for each thing we want to know; an empty value says it is not there.
LOOK: Final = r"""
say() { printf '%s=%s\n' "$1" "$2"; }
here() { command -v "$1" >/dev/null 2>&1; }
version='import sys; print("%d.%d.%d" % sys.version_info[:3])'
say system "$(. /etc/os-release 2>/dev/null && echo "$ID $VERSION_ID")"
say python "$(/usr/bin/python3 -c "$version" 2>/dev/null)"
here podman && say podman "$(podman --version 2>/dev/null | awk '{print $NF}')" || say podman ''
[ -S /run/podman/podman.sock ] && say podman_socket yes || say podman_socket ''
docker=''
[ -S /run/docker.sock ] && docker=$(docker --version 2>/dev/null | sed 's/,.*//; s/.* //')
say docker "$docker"
compose=$(docker-compose version --short 2>/dev/null || docker compose version --short 2>/dev/null)
say compose "$compose"
# Where the modules look, which do not ask PATH: sudo's differs from what a service has.
first() { for one in "$@"; do [ -e "$one" ] && echo "$one" && return; done; }
say kubeconfig "$(first /etc/margrave/kubeconfig /etc/rancher/k3s/k3s.yaml \
    /etc/rancher/rke2/rke2.yaml /etc/kubernetes/admin.conf)"
say kubectl "$(first /usr/local/bin/kubectl /usr/bin/kubectl /var/lib/rancher/rke2/bin/kubectl \
    /snap/bin/kubectl)"
say helm "$(first /usr/local/bin/helm /usr/bin/helm /snap/bin/helm)"
say free "$(df -Pk /var/lib 2>/dev/null | awk 'NR == 2 {print $4}')"
say clock "$(date +%s)"
"""

# Who has rights here: the runner whose calls the node takes, and each runner that has added it.
CLAIMS: Final = rf"""
[ -e {FENCE} ] && printf 'fence=%s\n' "$(tr -d '\n' < {FENCE})"
for file in {SUDOERS}-*; do
    [ -e "$file" ] && printf 'rights=%s\n' "$(sed -n 's/^# margrave //p' "$file" | head -n 1)"
done
true
"""

_PREPARE = r"""
set -eu
user=@USER@
line='@LINE@'
command -v visudo >/dev/null 2>&1 || exit @NO_SUDO@
if ! id "$user" >/dev/null 2>&1; then
    command -v useradd >/dev/null 2>&1 || exit @NO_USERADD@
    # The password is a star: no password fits, and yet the account is not locked for keys.
    useradd --create-home --shell /bin/sh --password '*' "$user"
fi
home=$(getent passwd "$user" | cut -d: -f6)
group=$(id -g "$user")
keys=$home/.ssh/authorized_keys
install -d -m 700 -o "$user" -g "$group" "$home/.ssh"
[ -e "$keys" ] || install -m 600 -o "$user" -g "$group" /dev/null "$keys"
grep -qxF "$line" "$keys" || printf '%s\n' "$line" >> "$keys"
install -d -m 750 /etc/sudoers.d
# sudo passes over names with a dot, so the file counts only once it is checked and renamed.
rights=@SUDOERS@-@RUNNER@
printf '# margrave %s\n%s ALL=(ALL:ALL) NOPASSWD: ALL\n' '@OWNER@' "$user" > "$rights.new"
chmod 440 "$rights.new"
visudo -cqf "$rights.new" || { rm -f "$rights.new"; exit @BAD_SUDOERS@; }
mv "$rights.new" "$rights"
"""

_REMOVE = r"""
set -eu
user=@USER@
line='@LINE@'
keys=$(getent passwd "$user" | cut -d: -f6)/.ssh/authorized_keys
if [ -e "$keys" ]; then
    grep -vxF "$line" "$keys" > "$keys.new" || true
    cat "$keys.new" > "$keys"
    rm -f "$keys.new"
fi
rm -f @SUDOERS@-@RUNNER@
grep -q '"runner": *"@RUNNER@"' @FENCE@ 2>/dev/null && rm -f @FENCE@
# What runners share goes with the last of them.
ls @SUDOERS@-* >/dev/null 2>&1 && exit 0
[ -e @FENCE@ ] && exit 0
rm -f @BEACON@
# The file of earlier versions, unless somebody else's key still needs it.
rule="$user ALL=(ALL:ALL) NOPASSWD: ALL"
if [ "$(cat @SUDOERS@ 2>/dev/null)" = "$rule" ] && ! grep -qs '^[^#]' "$keys"; then
    rm -f @SUDOERS@
fi
"""

# The key comes by standard input: what stands in a command is shown to everybody on the node.
# What is told stands over what is there; the rest of that (ca_file, client_cert) is the operator's.
WRITE_BEACON: Final = f"""
set -eu
umask 077
install -d -m 755 {BEACON.rpartition("/")[0]}
join='import json, sys
try:
    with open(sys.argv[1], encoding="utf-8") as file:
        there = dict(json.load(file))
except (OSError, ValueError, TypeError):
    there = {{}}
print(json.dumps(dict(there, **json.load(sys.stdin)), indent=2))'
/usr/bin/python3 -c "$join" {BEACON} > {BEACON}.new
mv {BEACON}.new {BEACON}
"""


def prepare(user: str, public_line: str, owner: Owner) -> str:
    """Return the script that makes the user, this runner's key and its sudo rule."""
    return _filled(_PREPARE, user, public_line, owner)


def remove(user: str, public_line: str, owner: Owner) -> str:
    """Return the script that removes this runner's rights; those of other runners stay."""
    return _filled(_REMOVE, user, public_line, owner)


def _filled(script: str, user: str, public_line: str, owner: Owner) -> str:
    values = {
        "USER": user,
        "LINE": public_line,
        "RUNNER": owner.runner,
        "OWNER": owner.text(),
        "SUDOERS": SUDOERS,
        "FENCE": FENCE,
        "BEACON": BEACON,
        "NO_SUDO": str(NO_SUDO),
        "NO_USERADD": str(NO_USERADD),
        "BAD_SUDOERS": str(BAD_SUDOERS),
    }
    for name, value in values.items():
        script = script.replace(f"@{name}@", value)
    return script
