# Configures, builds and runs the consumer. `how` is find_package or add_subdirectory.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Optimising the layers once more would take minutes and show nothing.
set(settings -G Ninja -D CMAKE_BUILD_TYPE= "-DCMAKE_CXX_COMPILER=${compiler}"
  "-DCMAKE_CXX_FLAGS=${flags}")

if(how STREQUAL "find_package")
  file(REMOVE_RECURSE ${work})
  run(${CMAKE_COMMAND} --install ${coxswain_build} --prefix ${work}/prefix)
  file(GLOB_RECURSE package ${work}/prefix/*.cmake)
  foreach(file IN LISTS package)
    file(STRINGS ${file} lines)
    foreach(line IN LISTS lines)
      foreach(path IN ITEMS "${coxswain_build}" "${coxswain_source}")
        string(FIND "${line}" "${path}" at)
        if(NOT at EQUAL -1)
          message(FATAL_ERROR "${file} names a path of this machine: ${line}")
        endif()
      endforeach()
    endforeach()
  endforeach()
  list(APPEND settings -D CMAKE_PREFIX_PATH=${work}/prefix)
else()
  list(APPEND settings -D COXSWAIN_SOURCE=${coxswain_source})
endif()

run(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build ${settings})
run(${CMAKE_COMMAND} --build ${work}/build --parallel 2)
run(${work}/build/consumer)
