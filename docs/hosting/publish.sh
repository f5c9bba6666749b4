#!/bin/sh
# publish.sh SITE TARGET: what cron runs on a machine of yours, as in
#
#   */5 * * * *  /srv/publish.sh /srv/archive www.example.org:/srv/www/archive/
#
# SITE is the folder with memosite.yml. It updates the clones in it, builds SITE/_site, and copies what changed to
# TARGET, a folder or what rsync takes. It prints only what went wrong, which cron mails.
set -eu
site=$1 target=$2
exec 9>"$site/.publish.lock"
flock --nonblock 9 || exit 0 # the last run is still at work

failed=0
for repo in "$site" "$site"/*/; do
  [ -e "$repo/.git" ] || continue
  git -C "$repo" remote | grep -q . || continue
  git -C "$repo" pull --quiet --ff-only || { echo "publish.sh: $repo could not be updated; its last state is published" >&2; failed=1; }
done

code=0
memosite build "$site" -o "$site/_site" --quiet || code=$?
[ "$code" -le 1 ] || exit "$code" # 1: published, but for what is withheld
rsync --archive --delete-after --delay-updates "$site/_site/" "$target"
[ "$code" = 0 ] || exit "$code"
exit "$failed"
