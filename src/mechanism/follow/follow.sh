# While a window is open, the held source gets the commit, or the digest, of the live one. Otherwise nothing of it is written, so nothing
# has to close. No parameter stands in braces, as Flux would fill it in.
set -f
open= when= ended=1 failed=0 settle=0 shut=0
case $KIND in
OCIRepository) sources=ocirepositories.source.toolkit.fluxcd.io field=digest algorithm=sha256: ;;
*) sources=gitrepositories.source.toolkit.fluxcd.io field=commit algorithm= ;;
esac
kustomizations=kustomizations.kustomize.toolkit.fluxcd.io
look() { # FROM TO # Sat 2026-11-28 22:00:00 +01:00 to Sun 2026-11-29 02:00:00 +01:00
  [ "$1 $2" != '# settle' ] || settle=$3
  case "$1:$2" in :* | *: | *[!0-9:]*) return ;; esac
  [ "$now" -lt "$2" ] || return 0
  ended=
  if [ "$when" ] || [ "$1" = "$2" ]; then
    return
  elif [ "$now" -ge "$1" ]; then
    # What is let in has to land before the end.
    shut=$((($2 - $1) / 4))
    [ "$shut" -le "$settle" ] || shut=$settle
    shut=$(($2 - shut))
    shift 8
    when="open until $1 $2 $3 $4"
    if [ "$now" -lt "$shut" ]; then open=1; else when="$when, lets nothing more in"; fi
  else
    when="held until $4 $5 $6 $7"
  fi
}
hash() { printf '%s' "$1" | sed 's/.*://'; }
note() { kubectl --request-timeout=20s "$@" --namespace="$NOTES"; }

# The annotation comes last and quoted, and the URL encoded, so that nothing in them makes a column or a line.
row='{{range .items}}{{.metadata.name}}|{{with .spec.ref}}{{with .'$field'}}{{.}}{{end}}{{end}}|{{with .status}}{{with .artifact}}{{.revision}}{{end}}{{end}}|{{.metadata.uid}}|{{with .spec.suspend}}{{.}}{{end}}|{{with .metadata.annotations}}{{if index . "gitops-windows/stop"}}stop{{end}}{{end}}|{{with .spec.url}}{{urlquery .}}{{end}}|{{with .metadata.annotations}}{{with index . "gitops-windows/window"}}{{printf "%q" .}}{{end}}{{end}}{{"\n"}}{{end}}'
rows=$(kubectl --request-timeout=20s get "$sources" "$LIVE" "$HELD" --namespace="$NAMESPACE" --output=go-template="$row") || exit 1
now=$(date +%s)
for line in "$@"; do look $line; done
[ "$when" ] || when="held: no opening is left in the table"
if [ "$ended" ]; then
  when="held: the table of open times has ended" failed=1
fi
live= pin= uid= stop= stopped= url= shown=
while IFS='|' read -r name commit revision id suspended annotated from window; do
  case $name in
  "$LIVE") live=$(hash "$revision") ;;
  "$HELD") pin=$(hash "$commit") uid=$id stop=$suspended stopped=$annotated url=$from shown=$window ;;
  esac
done <<END
$rows
END
[ "$uid" ] || { echo "$KIND $HELD is not there" >&2; exit 1; }

# What was let in last is noted, with where it is from: a note of another repository says nothing.
unread=
noted=$(note get configmaps "$HELD" --ignore-not-found --output=go-template='{{with .data}}{{with .commit}}{{.}}{{end}} {{with .url}}{{.}}{{end}}{{end}}') || unread=1 failed=1

# A person stops it by an annotation, whatever the table says.
[ -z "$stopped" ] || open= when="stopped by hand"

# The first run after a closing takes a commit back that nothing has begun to apply.
closing=
case $shown:$when in *:'open until '*) ;; '"open until '*) closing=1 ;; esac
want=
if [ "$stop" ]; then
  when="suspended by hand"
elif [ "$open" ]; then
  want=$live
elif [ -z "$pin" ] || [ "$closing" ]; then
  # It is new, or was made again: what was let in stays, and where nothing ever was, the live commit is let in.
  one='{{range $key, $_ := .spec}}{{if eq $key "suspend"}}suspend{{"\n"}}{{end}}{{end}}{{with .status}}{{with .lastAttemptedRevision}}{{.}}{{"\n"}}{{end}}{{end}}'
  each="{{if .items}}{{range .items}}$one{{end}}{{else}}$one{{end}}"
  found= hashes= suspend=
  while read -r namespace names; do
    some=$(kubectl --request-timeout=20s get "$kustomizations" $names --namespace="$namespace" --ignore-not-found --output=go-template="$each" </dev/null) || exit 1
    found="$found $some"
  done <<END
$GATED
END
  for revision in $found; do
    [ "$revision" != suspend ] || { suspend=1; continue; }
    revision=$(hash "$revision") hashes="$hashes $revision"
    if [ "$revision" = "$pin" ] || [ -z "$want" ]; then
      want=$revision
    elif [ "$want" != "$revision" ] && [ "$want" != "$pin" ]; then
      want=several
    fi
  done
  # Where all that reads it was made again too, or is at several commits, the note tells what was let in last.
  if [ -z "$pin" ] && { [ -z "$want" ] || [ "$want" = several ]; }; then
    [ -z "$unread" ] || exit 1
    last=
    case $noted in *" $url") last=$(printf '%s' "$noted" | sed 's/ .*//') ;; esac
    case "$want:$hashes " in :* | *" $last "*) want=$last ;; esac
  fi
  # As the gate came, some had applied that very commit and others not yet. Nothing held them: no note tells of a commit, and
  # Git, which resumes what CronJobs had suspended, says nothing of that. Of several commits the live one is the newest.
  if [ "$want" = several ] && [ -n "$live" ] && [ -z "$pin$shown$noted$unread$suspend$stopped" ]; then
    case "$hashes " in *" $live "*) want=$live ;; esac
  fi
  if [ "$want" = several ]; then
    echo "$KIND $HELD: what reads it is at several revisions, so set spec.ref.$field by hand:" $hashes >&2
    exit 1
  fi
  [ "$want" ] || [ "$closing$stopped" ] || want=$live
fi
[ "$want" != "$pin" ] || want=
case $want in *[!0-9a-f]*) echo "$KIND $LIVE is at no $field: $want" >&2; exit 1 ;; esac

# Meanwhile nothing more may be let in.
[ -z "$open" ] || [ "$(date +%s)" -lt "$shut" ] || want=
if [ "$want" ] || [ "$shown" != "\"$when\"" ]; then
  patch='"metadata":{"annotations":{"gitops-windows/window":"'$when'"}}'
  [ -z "$want" ] || patch="$patch,\"spec\":{\"ref\":{\"$field\":\"$algorithm$want\"}}"
  kubectl --request-timeout=20s patch "$sources" "$HELD" --namespace="$NAMESPACE" --type=merge --field-manager=flux --patch="{$patch}" || exit 1
fi
# Also where the last run could not note it.
last=$want
[ "$last" ] || last=$pin
case $last in
'' | *[!0-9a-f]*) ;;
*)
  [ "$noted" = "$last $url" ] ||
    note patch configmaps "$HELD" --type=merge --field-manager=flux --patch="{\"data\":{\"commit\":\"$last\",\"url\":\"$url\"}}" || failed=1
  ;;
esac
[ "$want" ] || exit "$failed"
[ "$pin" ] || pin=nothing
time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
kubectl create --validate=false --filename=- <<END || failed=1
{"apiVersion":"v1","kind":"Event","type":"Normal","reason":"Advanced","message":"from $pin to $want, $when","source":{"component":"gitops-windows"},"firstTimestamp":"$time","lastTimestamp":"$time","count":1,
"metadata":{"generateName":"$HELD-","namespace":"$NAMESPACE"},
"involvedObject":{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"$KIND","name":"$HELD","namespace":"$NAMESPACE","uid":"$uid"}}
END
exit "$failed"
