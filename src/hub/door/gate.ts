// Who may ask the hub for what: first the name it was called by, then where the request comes from, then the pass. Pure, and the same for requests and for upgrades.
import type { ErrorCode } from '../../errors.ts'

/** What counts of a request. A header that came twice is there twice. */
export interface RequestFacts {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly isUpgrade: boolean
  readonly hosts: readonly string[]
  readonly origins: readonly string[]
  readonly fetchSite: string | undefined
  readonly contentType: string | undefined
  readonly hasBody: boolean
}

export interface House {
  readonly port: number
  /** Names that the user's own tunnel calls the hub by. */
  readonly allowedHosts: readonly string[]
  readonly isReadOnly: boolean
  /** Whether the request carries a pass that this process has given to a browser. */
  readonly hasPass: () => boolean
  /** Whether it carries the secret for hooks. */
  readonly hasHookSecret: () => boolean
}

type Verdict =
  | { readonly passes: true; readonly area: Area }
  | { readonly passes: false; readonly movedTo: string }
  | { readonly passes: false; readonly code: ErrorCode; readonly why: string; readonly hint: string | null }

/** `page`: files that are the same for everybody. `login`: where a browser gets its pass. `hook`: for hosts on this machine, never for a browser. */
export type Area = 'page' | 'login' | 'api' | 'hook'

const LOGIN_PATHS: ReadonlySet<string> = new Set(['/api/login', '/api/hello', '/api/pass'])

/** Nothing for a path that could be read in two ways: what the gate has judged is what is answered. */
function areaOf(path: string): Area | undefined {
  const plain = decoded(path)
  if (plain === undefined || !plain.startsWith('/') || /\/\/|\\|(?:^|\/)\.{1,2}(?:\/|$)|\p{Cc}/u.test(plain))
    return undefined
  if (LOGIN_PATHS.has(plain)) return 'login'
  if (plain === '/api' || plain.startsWith('/api/')) return 'api'
  if (plain.startsWith('/hook/')) return 'hook'
  return 'page'
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

const OPEN_LINK = 'run heimdall open in a terminal of your own, and follow its link'

/** One check after the other; the first that fails is the answer, and what comes after is not looked at. */
export function judge(asked: RequestFacts, house: House): Verdict {
  if (isOtherLoopback(asked, house) && areaOf(asked.path) === 'page' && asked.method === 'GET')
    return { passes: false, movedTo: `http://127.0.0.1:${house.port}${asked.path}` }
  const host = hostOf(asked, house)
  if (host === undefined) return no('HUB_HOST_REFUSED', 'Host header not allowed', 'heimdall up --allow-host NAME')
  const area = areaOf(asked.path)
  if (area === undefined) return no('HUB_NOT_FOUND', 'malformed path', null)
  if (!METHODS.has(asked.method)) return no('HUB_METHOD_REFUSED', 'method not allowed: GET, HEAD and POST are', null)
  const wrongOrigin = whyNotFrom(asked, area, host, house)
  if (wrongOrigin !== undefined) return no('HUB_ORIGIN_REFUSED', wrongOrigin, null)
  if (asked.isUpgrade && area !== 'api')
    return no('HUB_NOT_FOUND', 'this path does not accept WebSocket upgrades', null)
  if (asked.method === 'POST' && area === 'page')
    return no('HUB_METHOD_REFUSED', 'this path does not accept POST', null)
  if (asked.hasBody && !isJson(asked.contentType))
    return no('HUB_REQUEST_INVALID', 'Content-Type must be application/json', null)
  if (area === 'hook' && !house.hasHookSecret())
    return no('HUB_TOKEN_REQUIRED', 'the secret for hooks is missing or wrong', null)
  if (area === 'api' && !house.hasPass())
    return no('HUB_TOKEN_REQUIRED', 'the pass is missing, wrong or no longer valid', OPEN_LINK)
  if (area === 'api' && asked.method === 'POST' && house.isReadOnly && asked.path !== '/api/logout')
    return no('HUB_READ_ONLY', 'this hub shows and changes nothing', 'start it without --read-only')
  return { passes: true, area }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST'])

const no = (code: ErrorCode, why: string, hint: string | null): Verdict => ({ passes: false, code, why, hint })

const isJson = (contentType: string | undefined): boolean =>
  /^application\/json(?:;\s*charset=utf-8)?$/i.test(contentType ?? '')

interface CalledBy {
  /** As it stands in the header. */
  readonly name: string
  readonly isTunnel: boolean
}

/**
 * Another user can listen on [::1] while the hub listens on 127.0.0.1, and a browser tries [::1] first for `localhost`:
 * a page under these names would send its pass there. They only lead to the page at 127.0.0.1.
 */
const isOtherLoopback = ({ hosts }: RequestFacts, { port }: House): boolean =>
  [`localhost:${port}`, `[::1]:${port}`].includes(hosts.join(' ').toLowerCase())

/** Exactly one name, exactly as it is listed: no other spelling of an address is understood. */
function hostOf(asked: RequestFacts, house: House): CalledBy | undefined {
  const { port, allowedHosts } = house
  const [name, ...more] = asked.hosts
  if (name === undefined || more.length > 0 || isOtherLoopback(asked, house)) return undefined
  const own = name.toLowerCase()
  if (own === `127.0.0.1:${port}`) return { name: own, isTunnel: false }
  const bare = own.replace(/:\d{1,5}$/, '')
  return allowedHosts.includes(bare) ? { name: own, isTunnel: true } : undefined
}

/**
 * A page may only speak to the hub that served it. Whatever changes something, and every upgrade, has to say so; a
 * plain look need not, because browsers leave the header out there, but it may not say otherwise.
 */
function whyNotFrom(asked: RequestFacts, area: Area, host: CalledBy, { port }: House): string | undefined {
  const { origins, fetchSite, method, isUpgrade } = asked
  if (area === 'hook')
    return origins.length > 0 || fetchSite !== undefined
      ? 'this is for programs on this machine, not for pages'
      : undefined
  const [origin, ...more] = origins
  const mustSay = isUpgrade || method === 'POST'
  if (more.length > 0) return 'more than one origin'
  if (origin === undefined) {
    if (mustSay) return 'the origin is missing'
  } else if (!originsOf(host, port).includes(origin.toLowerCase())) return 'the origin is another page’s'
  if (fetchSite === undefined || fetchSite === 'same-origin') return undefined
  // Typed by a person, or opened from a terminal.
  if (fetchSite === 'none') return mustSay ? 'it comes from no page' : undefined
  // A link from elsewhere may lead to the page, which is the same for everybody.
  return area === 'page' ? undefined : 'the request comes from another site'
}

function originsOf({ name, isTunnel }: CalledBy, port: number): string[] {
  const http = `http://${name}`
  if (!isTunnel) return port === 80 ? [http, http.replace(/:80$/, '')] : [http]
  // A tunnel ends TLS in front of us.
  return [http, `https://${name}`]
}
