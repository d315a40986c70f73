#!/usr/bin/env bash
# The tour of the README, against a running server with the fleet of examples/fleet.json.
# Every response is checked; the first wrong one ends the tour with exit code 1.
#
#   examples/tour.sh [ADDRESS]     or $PLATEN_ADDRESS, or http://127.0.0.1:8080
#
# It needs bash, curl and coreutils, and real ICC profiles (Debian's package icc-profiles-free). It can
# be repeated: its Timestamps are newer each time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# --- checks ----------------------------------------------------------------------------------------

answer=$(mktemp -d)
work=$answer
trap 'rm -rf "$work" "$answer"' EXIT
steps=0
title=

fail() {
  printf 'not ok - %s: %s\n' "$title" "$1" >&2
  exit 1
}

# Begins the next step after the checks of the previous one.
step() {
  held
  title=$1
  steps=$((steps + 1))
}
held() { [[ -z $title ]] || printf 'ok %s - %s\n' "$steps" "$title"; }

# The curl of the tour; keeps the response for the checks.
curl() {
  : >"$answer/head"
  command curl --silent --show-error --max-time 60 "$@" --dump-header "$answer/head" >"$answer/body" ||
    fail "curl ended with exit code $?"
}

# Checks the status and, byte for byte, the body.
answered() { # STATUS [BODY]
  local status line
  while read -r line; do
    if [[ $line == HTTP/* ]]; then read -r _ status _ <<<"$line"; fi
  done <"$answer/head"
  [[ ${status:-none} == "$1" ]] ||
    fail "expected status $1, received ${status:-none} with the body $(head -c 400 "$answer/body")"
  [[ $# == 1 ]] || cmp -s <(printf %s "$2") "$answer/body" ||
    fail "expected the body
  $2
received
  $(head -c 2000 "$answer/body")"
}

header() { # NAME, prints its value
  local line
  while IFS= read -r line; do
    line=${line%$'\r'}
    if [[ ${line,,} == "${1,,}: "* ]]; then
      printf %s "${line#*: }"
      return
    fi
  done <"$answer/head"
}

has_header() { # NAME VALUE
  local value
  value=$(header "$1")
  [[ $value == "$2" ]] || fail "expected the header $1: $2, received: ${value:-none}"
}

sha1_of() { # FILE, in upper case
  local sum
  sum=$(sha1sum "$1")
  sum=${sum%% *}
  printf %s "${sum^^}"
}

# --- the tour: the commands between the checks are those of the README --------------------------------

title='what the tour needs'
profiles=/usr/share/color/icc
[[ -r $profiles/sRGB.icc ]] || fail "no ICC profiles in $profiles; Debian has them in the package icc-profiles-free"
title=

platen=http://127.0.0.1:8080
platen=${1:-${PLATEN_ADDRESS:-$platen}}
platen=${platen%/}
auth=(-H 'MisKey: demo-key-of-ann-at-acme-print' -H 'SerialNumber: SN-1000' -H 'ApplicationVersion: 24.1.0')
work=$(mktemp -d)

step 'the server answers whoever has valid credentials'
curl "${auth[@]}" "$platen/api/v2"
answered 200 '"Server is running"'

step 'a profile is uploaded'
profile=/usr/share/color/icc/sRGB.icc
guid=88de5c02-cce6-411f-950f-be309caa4439
checksum=$(sha1sum "$profile" | cut -d ' ' -f 1)
now=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
cat >"$work/profile.json" <<END
{
  "ResourceGUID": "$guid",
  "ResourceChecksum": "$checksum",
  "ResourceType": "NormalProfile",
  "Meta": { "Name": "sRGB", "MediaType": "Satin 200", "ProfileGroup": "Latex", "Mode": "8 pass" }
}
END
curl "${auth[@]}" -H "Timestamp: $now" "$platen/api/v2/resource" \
  -F "JsonString=<$work/profile.json;type=application/json" \
  -F "file=@$profile;type=application/octet-stream"
answered 200 '"Resource successfully added"'

step 'it is in the list'
curl "${auth[@]}" --json '{"ResourceTypes":["NormalProfile"]}' "$platen/api/v2/resource/list"
sum=$(sha1_of "$profile")
answered 200 "[[\"$guid\",\"NormalProfile\",\"$sum\",\"sRGB\"]]"

step 'its info says what was sent, MediaType also as Media'
curl "${auth[@]}" "$platen/api/v2/resource/info/$guid"
meta='"Meta":{"Name":"sRGB","MediaType":"Satin 200","ProfileGroup":"Latex","Mode":"8 pass","Media":"Satin 200"}'
head='"ResourceGUID":"'$guid'","ResourceChecksum":"'$sum'","ResourceType":"NormalProfile"'
info="{$head,\"Timestamp\":\"${now%.*}Z\",\"Domain\":\"Private\",$meta}"
answered 200 "$info"

step 'the PMM lookup finds it without case'
curl "${auth[@]}" --json '{"ProfileGroup":"LATEX","Media":"satin 200","Mode":"8 Pass"}' \
  "$platen/api/v2/resource/pmminfo"
answered 200 "$info"

step 'its file comes back byte for byte'
curl "${auth[@]}" -o "$work/downloaded.icc" "$platen/api/v2/resource/$guid"
cmp "$work/downloaded.icc" "$profile"
answered 200
has_header ETag "\"$sum\""
has_header Content-Length "$(wc -c <"$profile")"

step 'an older version is refused'
curl "${auth[@]}" -H 'Timestamp: 2020-01-01T00:00:00Z' --dump-header - "$platen/api/v2/resource" \
  -F "JsonString=<$work/profile.json;type=application/json" \
  -F "file=@$profile;type=application/octet-stream"
answered 400 '{"Message":"Validation of Timestamp failed"}'
stored=${now%???Z}Z
has_header X-Error-Detail "Timestamp 2020-01-01T00:00:00.000000Z is not newer than the stored $stored"

step 'a newer one is taken'
newer=/usr/share/color/icc/compatibleWithAdobeRGB1998.icc
checksum=$(sha1sum "$newer" | cut -d ' ' -f 1)
now=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
cat >"$work/newer.json" <<END
{
  "ResourceGUID": "$guid",
  "ResourceChecksum": "$checksum",
  "ResourceType": "NormalProfile",
  "Meta": { "Name": "Adobe RGB", "MediaType": "Satin 200", "ProfileGroup": "Latex", "Mode": "8 pass" }
}
END
curl "${auth[@]}" -H "Timestamp: $now" "$platen/api/v2/resource" \
  -F "JsonString=<$work/newer.json;type=application/json" \
  -F "file=@$newer;type=application/octet-stream"
answered 200 '"Resource successfully added"'

step 'and replaces the former one whole'
curl "${auth[@]}" -o "$work/downloaded.icc" "$platen/api/v2/resource/$guid"
cmp "$work/downloaded.icc" "$newer"
answered 200
has_header ETag "\"$(sha1_of "$newer")\""

step 'a log entry is taken in'
run=$(date +%s%N)
curl "${auth[@]}" "$platen/api/v2/log" --json '{
  "ComputerGUID": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
  "DeviceGUID": "0d4ab0a6-0f0b-4d3e-9f5b-0a9a9f6f2c11",
  "Type": "log",
  "Description": "Job \"Order 17\" printed, 3.2 m²",
  "RipVersion": "24.1.'"$run"'"
}'
answered 200 '"Log successfully added"'

step 'and found by filters'
curl "${auth[@]}" --json '{"Version":"24.1.'"$run"'","Source":"latex*","LogType":"Log"}' \
  "$platen/api/v2/log/list"
entry='"User":"Ann","Source":"Latex 1","Version":"24.1.'$run'","Computer":"RIP-01"'
answered 200 "[{$entry,\"Description\":\"Job \\\"Order 17\\\" printed, 3.2 m²\"}]"

step 'a crash report is taken in with call stack, XML and dump'
curl "${auth[@]}" --dump-header - -H 'ApplicationName: RIP' -H 'OS: 1' "$platen/api/v2/log/crashreport" \
  -F 'CallStack=@examples/crash/callstack.txt;type=text/plain' \
  -F 'Xml=@examples/crash/rip.xml;type=application/xml' \
  -F 'dump=@examples/crash/rip.dmp;type=application/octet-stream'
answered 200 '"Crash report successfully added"'
hex='[0-9a-f]'
[[ $(header Crash-Report-Id) =~ ^$hex{8}-$hex{4}-$hex{4}-$hex{4}-$hex{12}$ ]] ||
  fail "Crash-Report-Id is no GUID: $(header Crash-Report-Id)"

step 'a device tells its status'
curl "${auth[@]}" "$platen/api/v2/device/status" --json '{
  "DeviceGUID": "0d4ab0a6-0f0b-4d3e-9f5b-0a9a9f6f2c11",
  "Status": "Printing",
  "Message": "Pass 3 of 8",
  "Temperature": 41.5,
  "ConnectionState": "Online",
  "RemainingInks": [
    { "InkIndex": 0, "InkName": "Cyan", "Level": 412.5, "MaxLevel": 775 },
    { "InkIndex": 1, "InkName": "Magenta", "Level": -1, "MaxLevel": 775 }
  ],
  "QueueLength": { "Length": 12.75 }
}'
answered 200 '"Device status successfully updated"'

step 'a profile that a queue uses is not deleted'
curl "${auth[@]}" --dump-header - -X DELETE "$platen/api/v2/resource/$guid"
answered 400 '{"Message":"Resource still in use"}'
has_header X-Error-Detail 'in use by queue "Banner"'

step 'an upload says why it is refused'
other=0b9c3f5e-1f2d-4c6a-8e57-6a1d2b3c4d5e
cat >"$work/label.json" <<END
{
  "ResourceGUID": "$other",
  "ResourceChecksum": "$checksum",
  "ResourceType": "Label",
  "Meta": { "Name": "Shipping label" }
}
END
label=/usr/share/color/icc/Gray.icc
curl "${auth[@]}" --dump-header - "$platen/api/v2/resource" \
  -F "JsonString=<$work/label.json;type=application/json" \
  -F "file=@$label;type=application/octet-stream"
answered 400 '{"Message":"“ResourceChecksum” does not match the content"}'
size=$(wc -c <"$label")
has_header X-Error-Detail \
  "ResourceChecksum sent is $(sha1_of "$newer"), that of the $size bytes received is $(sha1_of "$label")"

step 'what nothing uses is added'
cat >"$work/label.json" <<END
{
  "ResourceGUID": "$other",
  "ResourceChecksum": "$(sha1sum "$label" | cut -d ' ' -f 1)",
  "ResourceType": "Label",
  "Meta": { "Name": "Shipping label" }
}
END
curl "${auth[@]}" "$platen/api/v2/resource" \
  -F "JsonString=<$work/label.json;type=application/json" \
  -F "file=@$label;type=application/octet-stream"
answered 200 '"Resource successfully added"'

step 'and deleted'
curl "${auth[@]}" -X DELETE "$platen/api/v2/resource/$other"
answered 200 '"Resource successfully deleted"'

step 'and then gone'
curl "${auth[@]}" "$platen/api/v2/resource/$other"
answered 404 '{"Message":"ResourceGUID not found"}'

held
printf 'The tour went well: %s steps.\n' "$steps"
