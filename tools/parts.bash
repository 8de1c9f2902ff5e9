# Sourced by scripts of several parts: prints how long each took when the script ends, also when a part
# has failed.

parts=()
trap print_parts EXIT

# part NAME: ends the part before it.
part() {
  end_part
  part_name=$1
  part_began=$SECONDS
}

end_part() {
  local took
  if [[ ${part_name-} ]]; then
    took=$((SECONDS - part_began))
    parts+=("$part_name $((took / 60)) min $((took % 60)) s")
    part_name=
  fi
}

print_parts() {
  end_part
  if ((${#parts[@]})); then
    printf '%s: ' "${0##*/}"
    printf '%s, ' "${parts[@]}"
    printf 'all %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
    parts=()
  fi
}
