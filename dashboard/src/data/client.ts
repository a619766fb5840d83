// Requests to the hub: one way in, one kind of error. The hub proves itself before the first one; see identity.ts.
import type { RefusalReply } from '../../../src/hub/contract.ts'
import { HubError, hubError } from './hub-error.ts'
import { passFrom, proveHub, redeem, type Send } from './identity.ts'

export type QueryParams = Readonly<Record<string, string | number | undefined>>

/** Null for the hub's first project. */
export const chosenProject = (): string | null => new URLSearchParams(location.search).get('project') || null

/** `/api/…` with the chosen project and these parameters. */
function apiUrl(path: string, params: QueryParams = {}): string {
  const search = new URLSearchParams()
  const project = chosenProject()
  if (project !== null) search.set('project', project)
  for (const [name, value] of Object.entries(params)) if (value !== undefined) search.set(name, String(value))
  const text = search.toString()
  return text === '' ? `/api/${path}` : `/api/${path}?${text}`
}

/** The address of a WebSocket. A browser cannot set headers there, so the pass is in the query. */
export async function socketUrl(path: string, params: QueryParams = {}): Promise<string> {
  const url = new URL(apiUrl(path, { ...params, pass: await passNow() }), location.href)
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
  return url.href
}

const PLAIN: RequestInit = { credentials: 'omit', redirect: 'error' }
const withBody = (body: unknown): RequestInit => ({
  ...PLAIN,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const sendWithoutPass: Send = (path, query, body) =>
  replyTo(
    () => fetch(`/api/${path}?${new URLSearchParams(query).toString()}`, body === undefined ? PLAIN : withBody(body)),
    JSON_REPLY,
  )

let pass: Promise<string> | undefined

/** The pass of this tab, once the hub has proved itself. */
function passNow(): Promise<string> {
  const requested = (pass ??= newPass())
  requested.catch(() => {
    if (pass === requested) pass = undefined
  })
  return requested
}

/** After a lost connection another program may listen at the address: the hub proves itself anew before the next request. */
export function dropPass(): void {
  pass = undefined
}

async function newPass(): Promise<string> {
  const found = await passFrom(sendWithoutPass)
  if (found === undefined) throw hubError('HUB_TOKEN_REQUIRED', 'This browser is not signed in.', 'heimdall open')
  return found
}

/** With the key of a link. */
export async function signInWith(key: string): Promise<void> {
  if (!isSecureContext)
    throw hubError('NOT_SECURE', 'A browser can sign in at 127.0.0.1 or at an https address only.', null)
  await redeem(key, sendWithoutPass)
  dropPass()
}

/** Before code of the page is loaded: another program at this address would send its own. */
export const hubIsProved = (): Promise<void> => proveHub(sendWithoutPass)

// Direction marks in text of agents could make a name read as another one.
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g

/** Text of agents or of an address, with direction marks replaced. */
export const withoutDirectionMarks = (text: string): string => text.replace(DIRECTION_MARKS, '\ufffd')

/** Every reply and message of the hub is parsed here. */
export const parseReply = (text: string): unknown => JSON.parse(withoutDirectionMarks(text))

interface ReplyType<T> {
  readonly contentType: string
  readonly parse: (text: string) => T
}

const JSON_REPLY: ReplyType<never> = {
  contentType: 'application/json',
  parse: (text) => parseReply(text) as never,
}

/** A connection that breaks while the body is read counts as an unreachable hub, and so does a body that cannot be parsed. */
async function replyTo<T>(send: () => Promise<Response>, { contentType, parse }: ReplyType<T>): Promise<T> {
  let status: number
  let refusal: Partial<RefusalReply> | null
  try {
    const response = await send()
    const text = await response.text()
    const given = response.headers.get('content-type') ?? ''
    if (response.ok && given.startsWith(contentType)) return parse(text)
    status = response.status
    refusal = given.startsWith('application/json') ? (parseReply(text) as Partial<RefusalReply> | null) : null
  } catch (cause) {
    if (cause instanceof HubError || (cause instanceof DOMException && cause.name === 'AbortError')) throw cause
    throw hubError('HUB_NOT_REACHED', 'The hub does not answer.', 'heimdall up', 'Agents go on without it.')
  }
  throw new HubError(
    refusal?.error ?? {
      code: `HTTP_${status}`,
      message: status === 431 ? 'The address is longer than the hub reads.' : 'No reason was given.',
      hint: null,
      still_works: null,
    },
  )
}

interface Request<T> {
  readonly path: string
  readonly params?: QueryParams
  readonly init: RequestInit
  readonly type: ReplyType<T>
}

/** A pass ends with the hub that gave it: the next hub refuses it before it reads anything else, and gives another. */
async function withPass<T>({ path, params, init, type }: Request<T>): Promise<T> {
  const send = (): Promise<T> =>
    replyTo(async () => {
      const headers = { ...(init.headers as Readonly<Record<string, string>>), 'x-heimdall-pass': await passNow() }
      return await fetch(apiUrl(path, params), { ...PLAIN, ...init, headers })
    }, type)
  const used = pass
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'HUB_TOKEN_REQUIRED' || used === undefined) throw error
    if (pass === used) dropPass()
    return await send()
  }
}

export const get = <T>(path: string, params: QueryParams = {}, signal: AbortSignal | null = null): Promise<T> =>
  withPass<T>({ path, params, init: { signal }, type: JSON_REPLY })

export const post = <T>(path: string, body: unknown = {}): Promise<T> =>
  withPass<T>({ path, init: withBody(body), type: JSON_REPLY })

/** An asciicast. Its text is drawn by a terminal, which handles direction marks itself. */
export const getRecording = (run: string, signal: AbortSignal): Promise<string> =>
  withPass({
    path: `runs/${segment(run)}/recording`,
    init: { signal },
    type: { contentType: 'application/x-asciicast', parse: (text) => text },
  })

/** One segment of a path, whatever the name is made of. */
export const segment = (name: string): string => encodeURIComponent(name)
