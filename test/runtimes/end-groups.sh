# Ends the process groups of a test run that was interrupted or killed. Its standard input is a pipe from the test run, which
# writes `+<id>` for each group that it starts and `-<id>` for each that has ended. When the pipe closes, the rest is ended.
groups=' '
while read -r line; do
  id=${line#?}
  case $line in
    +*) groups="$groups$id " ;;
    -*) groups="${groups%% "$id" *} ${groups#* "$id" }" ;;
  esac
done

set -- $groups
[ $# -gt 0 ] || exit 0
for id; do kill -s TERM -- "-$id" 2>/dev/null; done
sleep 2
for id; do kill -s KILL -- "-$id" 2>/dev/null; done
exit 0
