# shellcheck shell=sh
# Sourced by benchmarks of a slow origin: files of noise on a disk behind a loop device, whose rate is limited by a
# control group for whatever runs in it. The sourcing script has set $here, sourced lib.sh, and calls take_origin_away
# when it ends; $work is the folder of the run, $group the control group.

work=
group=

# make_origin FILES BYTES: files of noise in $work/origin, their names in $work/names.
make_origin() {
  make_disk "$1" $(($1 * $2))
  add_files "$work/origin" "$work/names" "$1" "$2"
  finish_disk
}

# make_disk FILES BYTES: a new $work, whose origin is an empty disk for so many files with so many bytes together.
make_disk() {
  work=$(trap '' INT TERM HUP && mktemp -d /tmp/holdfast-bench.XXXXXX)
  mkdir "$work/origin"
  truncate -s $((($2 + $1 * 8192) * 5 / 4 / 4096 * 4096 + 67108864)) "$work/image"
  mkfs.ext4 -q -F -O ^has_journal -N $(($1 + 1000)) "$work/image"
  mount -o loop "$work/image" "$work/origin"
}

# add_files FOLDER NAMES FILES BYTES: files of noise in a folder of the disk, their names in the file NAMES.
add_files() {
  say "Making $3 files of $4 bytes..."
  (cd "$1" && head -c $(($3 * $4)) /dev/urandom | split -a 6 -b "$4" - f)
  find "$1" -type f -size +0 -printf '%f\n' >"$2"
}

# finish_disk: it can only be read from now on.
finish_disk() {
  umount "$work/origin"
  # Past the page cache of the image, which is no part of the origin's disk.
  device=$(losetup --find --show --read-only --direct-io=on "$work/image")
  mount -o ro,noatime "$device" "$work/origin"
}

# Nothing of the origin is in the page cache after it.
forget_origin() {
  umount "$work/origin"
  mount -o ro,noatime "$device" "$work/origin"
}

# limit_origin MB: all processes in $group together read at most so many MB a second from the origin. Another origin is
# limited by itself, in the same group.
limit_origin() { limit_disk read "$1"; }

# limit_disk read|write MB: the same for what they read from the disk of $device, or write to it.
limit_disk() {
  number=$(cat "/sys/block/${device#/dev/}/dev")
  old=$(findmnt -rno TARGET -t cgroup -O blkio | head -n 1)
  new=$(findmnt -rno TARGET -t cgroup2 | head -n 1)
  if [ -n "$old" ]; then
    group=$old/holdfast-bench-$$
    mkdir -p "$group"
    echo "$number $(($2 * 1000000))" >"$group/blkio.throttle.${1}_bps_device"
  elif [ -n "$new" ]; then
    echo +io >"$new/cgroup.subtree_control"
    group=$new/holdfast-bench-$$
    mkdir -p "$group"
    echo "$number $(echo "$1" | cut -c 1)bps=$(($2 * 1000000))" >"$group/io.max"
  else
    die "no control groups to limit the disk with"
  fi
}

# remove_group DIRECTORY: a daemon whose mount has ended takes a moment to end itself.
remove_group() {
  for _ in $(seq 100); do
    rmdir "$1" 2>/dev/null && break || sleep 0.1
  done
  [ ! -d "$1" ] || say "left behind: $1"
}

# To be called once nothing reads it.
take_origin_away() {
  if [ -n "$work" ]; then
    findmnt -rn -M "$work/origin" >/dev/null && { umount "$work/origin" || umount -l "$work/origin"; }
    [ -z "${device-}" ] || losetup --detach "$device"
    rm -rf --one-file-system -- "$work"
  fi
  [ -z "$group" ] || remove_group "$group"
}
