#!/bin/sh
# build.sh BASE_URL ARGUMENT OF memosite build…
# Builds an archive where the last output is not at hand, as in CI: it goes on from the site that is published at
# BASE_URL. Only where nothing is published yet (404) it begins anew: else a server that is down for a moment would cost
# the addresses and the order of arrival.
set -eu
base=${1%/}
shift
code=$(curl --silent --location --netrc-optional --max-time 60 --output /dev/null --write-out '%{http_code}' \
  ${MEMOSITE_TOKEN:+--header "Authorization: Bearer $MEMOSITE_TOKEN"} "$base/archive/ledger.jsonl") || code=000
case $code in
  200) exec memosite build "$@" --previous "$base/" ;;
  404) echo "build.sh: nothing is published at $base/ yet: the archive begins here" >&2; exec memosite build "$@" ;;
  *) echo "build.sh: $base/archive/ledger.jsonl: the server answered $code, expected 200, or 404 for the first time; run it again" >&2
     exit 2 ;;
esac
