#!/bin/sh
# Becomes the process of one node. Runs in a mount namespace of its own, so that disk and root are
# seen by this node alone and vanish with it, however it ends.
#   start_node.sh IMAGE MOUNT SEED BASE ROOT MODE GROUPS PROGRAM...
#   MODE    layered: changes go to the disk; bare: changes go to the base itself
#   GROUPS  control groups to enter, separated by colons
set -eu
image=$1 mount=$2 seed=$3 base=$4 root=$5 mode=$6 groups=$7
shift 7

IFS=:
for group in $groups; do echo $$ >"$group/cgroup.procs"; done
unset IFS

mount -t ext4 -o loop,noinit_itable "$image" "$mount"
mkdir -p "$mount/upper" "$mount/work" "$mount/containers"
if [ "$mode" = layered ]; then
  mount -t overlay overlay -o "lowerdir=$seed:$base,upperdir=$mount/upper,workdir=$mount/work" "$root"
else
  mount --bind "$base" "$root"
fi
exec "$@"
