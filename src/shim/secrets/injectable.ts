// What a secret may be put into: variables of a program that the shim starts, or headers of requests to a remote server.

/** What kind of server the secrets are for. */
export type Into = 'variables' | 'headers'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
/** They say which code runs in the server, so that whoever writes a secret could write a program. */
const LOADERS =
  /^(LD_.*|DYLD_.*|GCONV_PATH|GLIBC_TUNABLES|PATH|HOME|SHELL|IFS|ENV|BASH_ENV|NODE_OPTIONS|NODE_PATH|PYTHON(PATH|HOME|STARTUP)|PERL5(LIB|OPT)|PERLLIB|RUBY(LIB|OPT)|(JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS)$/
/** By these we govern, find and recognise what we start. */
const OURS = /^(SUB|HEIMDALL|BB)_/

/** `Authorization: Bearer …`, which most servers want; a name of its own so that the secret is the token alone. */
export const BEARER = 'bearer'
const HEADER = /^header:([!#$%&'*+.^_`|~0-9A-Za-z-]+)$/
/** They say where a request goes, what its body is, or what it calls. */
const OF_THE_REQUEST =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-.*|accept|accept-encoding|expect|mcp-.*|origin|referer|last-event-id)$/i

/** Why a secret cannot be injected under this name, or null. */
export function whyNotInjectable(name: string, into: Into): string | null {
  if (into === 'headers') return whyNoHeader(name)
  if (name === BEARER || name.startsWith('header:')) return 'is for servers that are reached by --url'
  if (!NAME.test(name)) return 'is no name of a variable: letters, digits and underscores, no digit first'
  if (LOADERS.test(name)) return 'says what programs load and where they look, and takes no secret'
  if (OURS.test(name)) return 'is one of our own variables, and takes no secret'
  return null
}

function whyNoHeader(name: string): string | null {
  const header = headerOf(name)
  if (header === null) return 'is neither bearer nor header:NAME, which a server that is reached by --url takes'
  return isOfTheRequest(header) ? 'is a header that we write ourselves' : null
}

export const isOfTheRequest = (header: string): boolean => OF_THE_REQUEST.test(header)

/** The header that a secret goes into; null for what is none. */
export function headerOf(name: string): string | null {
  return name === BEARER ? 'Authorization' : (HEADER.exec(name)?.[1] ?? null)
}

/** What can stand in a header: one line of printable ASCII. */
export const fitsHeader = (value: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)
