// Which variables a secret may be put into: none that says what a program loads or where it looks, and none of ours.

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
/** They say which code runs in the server, so that whoever writes a secret could write a program. */
const LOADERS =
  /^(LD_.*|DYLD_.*|GCONV_PATH|GLIBC_TUNABLES|PATH|HOME|SHELL|IFS|ENV|BASH_ENV|NODE_OPTIONS|NODE_PATH|PYTHON(PATH|HOME|STARTUP)|PERL5(LIB|OPT)|PERLLIB|RUBY(LIB|OPT)|(JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS)$/
/** By these we govern, find and recognise what we start. */
const OURS = /^(SUB|HEIMDALL|BB)_/

/** Why a secret cannot be injected under this name, or null. */
export function whyNotInjectable(name: string): string | null {
  if (!NAME.test(name)) return 'is no name of a variable: letters, digits and underscores, no digit first'
  if (LOADERS.test(name)) return 'says what programs load and where they look, and takes no secret'
  if (OURS.test(name)) return 'is one of our own variables, and takes no secret'
  return null
}
