# Profile-guided optimization by gcc. A build inside this one compiles the layers below so that they
# count what they execute, and runs bench/training, over loopback; with these counts they are compiled
# again. Once for each build directory: a function that changes later is compiled without counts.
# `coxswain` and `coxswain-load` are optimized across these layers when they are linked (LTO); for
# tests and other programs that would take too long. Included after all targets are defined.

# gcc looks for the counts of an object beside it.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE counts ${TRAINING}/*.gcda)
  if(NOT counts)
    message(FATAL_ERROR "the training wrote no counts below ${TRAINING}")
  endif()
  file(COPY ${TRAINING}/src DESTINATION ${BUILD} FILES_MATCHING PATTERN "*.gcda")
  file(TOUCH ${TRAINING}/counts)
  return()
endif()

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  message(FATAL_ERROR "COXSWAIN_PGO is for gcc only")
endif()
set(layers base core wire net server)

if(COXSWAIN_PGO STREQUAL train)
  foreach(layer IN LISTS layers)
    # Less inlining after the counters are in place: the same counts from less code.
    target_compile_options(coxswain_${layer} PRIVATE
      -fprofile-generate --param=inline-unit-growth=0)
  endforeach()
  target_compile_options(coxswain_proto PRIVATE -O0)
  add_executable(coxswain-training ${PROJECT_SOURCE_DIR}/bench/training.cpp)
  target_link_libraries(coxswain-training PRIVATE coxswain::server)
  list(TRANSFORM layers PREPEND coxswain_)
  string(JOIN "," layers ${layers})
  set_target_properties(coxswain-training PROPERTIES LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,${layers})
  target_link_options(coxswain-training PRIVATE -fprofile-generate)
  return()
endif()

# With the settings of this build.
set(training ${PROJECT_BINARY_DIR}/training)
set(settings)
get_cmake_property(names CACHE_VARIABLES)
foreach(name IN LISTS names)
  get_property(type CACHE ${name} PROPERTY TYPE)
  if(NOT type MATCHES "INTERNAL|STATIC")
    string(APPEND settings "set(${name} [==[${${name}}]==] CACHE STRING \"\")\n")
  endif()
endforeach()
file(WRITE ${training}.cmake "${settings}")

add_custom_command(OUTPUT ${training}/counts
  COMMAND ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR} -S ${PROJECT_SOURCE_DIR} -B ${training}
    -C ${training}.cmake -DCOXSWAIN_PGO=train -DCOXSWAIN_WERROR=OFF -DCOXSWAIN_TESTS=OFF
    -DCOXSWAIN_BENCH=OFF -DCOXSWAIN_TOOLS=OFF -DCOXSWAIN_PYTHON=OFF -DCOXSWAIN_INSTALL=OFF
  COMMAND ${CMAKE_COMMAND} --build ${training} --target coxswain-training
  COMMAND ${training}/bin/coxswain-training
  COMMAND ${CMAKE_COMMAND} -DTRAINING=${training} -DBUILD=${PROJECT_BINARY_DIR}
    -P ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Counting what a job executes" USES_TERMINAL VERBATIM)
add_custom_target(coxswain_counts DEPENDS ${training}/counts)
foreach(layer IN LISTS layers)
  add_dependencies(coxswain_${layer} coxswain_counts)
  target_compile_options(coxswain_${layer} PRIVATE
    -fprofile-use -fprofile-partial-training -Wmissing-profile -Wno-coverage-mismatch
    -fno-unroll-loops -fno-tracer -fno-align-loops -fno-align-jumps  # less code
    -Wno-stringop-overread  # false: of a size that memcpy often had
    -flto -ffat-lto-objects)
endforeach()

# -flto undoes the -fno-lto that all targets have, which -flto=4, the number of jobs, does not. -Wodr
# warns of coroutines in headers, because gcc numbers the members of a frame differently in each source.
foreach(program IN ITEMS coxswain coxswain-load)
  if(TARGET ${program})
    target_link_options(${program} PRIVATE -flto -flto=4 -Wno-odr)
  endif()
endforeach()

# Only the version of gcc that wrote LTO data can read it, so it is not installed.
if(COXSWAIN_INSTALL)
  list(TRANSFORM layers REPLACE ".+" "$<TARGET_FILE_NAME:coxswain_\\0>" OUTPUT_VARIABLE archives)
  install(CODE "set(archives ${archives})
set(libdir [==[${CMAKE_INSTALL_LIBDIR}]==])
set(objcopy [==[${CMAKE_OBJCOPY}]==])" COMPONENT development)
  install(CODE [==[
    cmake_path(ABSOLUTE_PATH libdir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
    foreach(archive IN LISTS archives)
      execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND "${objcopy}" --preserve-dates
        --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_*
        "$ENV{DESTDIR}${libdir}/${archive}")
    endforeach()]==] COMPONENT development)
endif()
if(COXSWAIN_TESTS AND TARGET coxswain)
  add_test(NAME coxswain_is_linked_with_lto
    COMMAND sh -c [[nm "$1" | grep -m1 '\.lto_priv']] sh $<TARGET_FILE:coxswain>)
  set_tests_properties(coxswain_is_linked_with_lto PROPERTIES LABELS install TIMEOUT 60)
endif()
