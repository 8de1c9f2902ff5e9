# bash's completion, printed by the program itself, laid out as below share/.
set(directory ${PROJECT_BINARY_DIR}/share/bash-completion/completions)
add_custom_command(
  OUTPUT ${directory}/coxswain
  COMMAND ${CMAKE_COMMAND} -E make_directory ${directory}
  COMMAND coxswain completion bash > ${directory}/coxswain
  DEPENDS coxswain
  VERBATIM)
add_custom_target(coxswain_completion ALL DEPENDS ${directory}/coxswain)
