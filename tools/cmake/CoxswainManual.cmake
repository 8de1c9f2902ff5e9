# Manual pages and completions, which the program itself writes, laid out as below share/.
find_program(GZIP gzip)

set(coxswain_manual ${PROJECT_BINARY_DIR}/share)
set(manual ${coxswain_manual}/man/man1)
set(completions
  bash ${coxswain_manual}/bash-completion/completions/coxswain
  zsh ${coxswain_manual}/zsh/vendor-completions/_coxswain
  fish ${coxswain_manual}/fish/vendor_completions.d/coxswain.fish)

set(steps COMMAND ${CMAKE_COMMAND} -E rm -rf ${coxswain_manual}
  COMMAND coxswain man ${manual})
if(GZIP)
  list(APPEND steps COMMAND sh -c "${GZIP} -9n ${manual}/*.1")
endif()
while(completions)
  list(POP_FRONT completions shell script)
  cmake_path(GET script PARENT_PATH directory)
  list(APPEND steps
    COMMAND ${CMAKE_COMMAND} -E make_directory ${directory}
    COMMAND coxswain completion ${shell} > ${script})
endwhile()

add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/documents.stamp ${steps}
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/documents.stamp
  DEPENDS coxswain
  COMMENT "Writing manual pages and completions"
  VERBATIM)
add_custom_target(coxswain_manual ALL DEPENDS ${PROJECT_BINARY_DIR}/documents.stamp)
