# A job as a shell script, run by each task: coxswain run -n 4 -- coxswain task -- sh job.sh
set -e

# All tasks exchange their host names and check that they run the same script.
hosts=$(coxswain all-gather hosts "$(hostname)")
[ $COXSWAIN_TASK_ID != 0 ] || echo "$hosts" | sort | uniq -c
coxswain all-equal script "$(cksum < "$0")"

for step in $(seq 20); do
  loss=$((100 / (step + COXSWAIN_TASK_ID)))  # the work
  worst=$(coxswain reduce loss $loss --how max)
  coxswain progress $step
  # After a preemption notice (coxswain preempt 2) all tasks stop at the same step.
  if coxswain sync-point $step; then break; fi
  [ $worst -gt 9 ] || break
done

coxswain put result/$COXSWAIN_TASK_ID "$loss after $step steps"
coxswain barrier done > /dev/null
[ $COXSWAIN_TASK_ID != 0 ] || coxswain ls result
