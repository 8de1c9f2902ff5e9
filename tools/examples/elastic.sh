# A shell script of a job that goes on when its tasks are lost, and takes new ones in:
#   coxswain run -n 4 --min-tasks 2 --max-restarts 3 -- coxswain task -- sh elastic.sh
# or, on several hosts,
#   coxswain serve --num-tasks 4 --min-tasks 2 &
#   for i in 0 1 2 3; do coxswain task --member m$i -- sh elastic.sh & done
steps=${1:-20}
step=0 sum=0 rank=$COXSWAIN_TASK_ID size=$COXSWAIN_NUM_TASKS

while :; do
  if states=$(coxswain all-gather state "$step $sum"); then
    set -- $(echo "$states" | sort -n | tail -n 1)  # new members have none
    step=$1 sum=$2
    until [ $step = $steps ] || coxswain epoch wanted > /dev/null; do
      part=$(((step + size - 1 - rank) / size))  # the work
      all=$(coxswain reduce sum $part --how sum) || break
      sum=$((sum + all)) step=$((step + 1))
      echo "step $step of epoch ${number:-1}"
    done
    if [ $step = $steps ] && coxswain leave; then break; fi
  fi
  epoch=$(coxswain epoch next) || exit
  [ "$epoch" ] || exit 0  # it goes on without this task
  set -- $epoch
  number=$1 size=$2 rank=$3
done
echo "sum $sum"
