// Requests to the hub: one way in, one kind of error.
import type { RefusalReply } from '../../../src/hub/contract.ts'
import { HubError, hubError } from './hub-error.ts'
import { passFrom, proveHub, redeem, type Send } from './identity.ts'

export { HubError } from './hub-error.ts'

export type Query = Readonly<Record<string, string | number | undefined>>

/** Null for the first of the hub's. */
export const chosenProject = (): string | null => new URLSearchParams(location.search).get('project') || null

/** `/api/…` with the chosen project and what else is asked. */
export function hubAddress(path: string, query: Query = {}): string {
  const words = new URLSearchParams()
  const project = chosenProject()
  if (project !== null) words.set('project', project)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value))
  const text = words.toString()
  return text === '' ? `/api/${path}` : `/api/${path}?${text}`
}

const sendWithoutPass: Send = (path, query, body) =>
  ask(() => fetch(`/api/${path}?${new URLSearchParams(query).toString()}`, body === undefined ? PLAIN : posted(body)))

const PLAIN: RequestInit = { credentials: 'omit', redirect: 'error' }
const posted = (body: unknown): RequestInit => ({
  ...PLAIN,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

let pass: Promise<string> | undefined

/** The pass of this tab, once the hub has proved itself. */
export function passNow(): Promise<string> {
  const asked = (pass ??= newPass())
  asked.catch(() => {
    if (pass === asked) pass = undefined
  })
  return asked
}

/** The connection broke, and another program may listen at the address: the hub proves itself anew before the next request. */
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

/** As the hub's own page asks. */
export async function hubFetch(path: string, query: Query = {}, init: RequestInit = {}): Promise<Response> {
  const headers = init.headers as Readonly<Record<string, string>> | undefined
  return await fetch(hubAddress(path, query), {
    ...PLAIN,
    ...init,
    headers: { ...headers, 'x-heimdall-pass': await passNow() },
  })
}

async function ask<T>(fetched: () => Promise<Response>): Promise<T> {
  const { isOk, status, body } = await answerTo(fetched)
  if (isOk) return body as T
  const refusal = body as Partial<RefusalReply> | null
  throw new HubError(
    refusal?.error ?? {
      code: `HTTP_${status}`,
      message: status === 431 ? 'The address is longer than the hub reads.' : 'No reason was given.',
      hint: null,
      still_works: null,
    },
  )
}

// What an agent wrote must not turn round what stands beside it: a name with a mark in it that reverses letters would read as another.
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g

/** Everything that the hub says comes in here, and characters that reverse text are seen as what cannot be shown. */
export const readReply = (text: string): unknown => JSON.parse(untwisted(text))

/** What stands in an address is as little to be trusted. */
export const untwisted = (text: string): string => text.replace(TURNING, '\ufffd')

interface HubAnswer {
  readonly isOk: boolean
  readonly status: number
  readonly body: unknown
}

/** A line that breaks is the same before the answer as in the middle of it. */
async function answerTo(fetched: () => Promise<Response>): Promise<HubAnswer> {
  try {
    const response = await fetched()
    const text = await response.text()
    // What was too long to be read at all is refused without a word.
    const isTold = response.headers.get('content-type')?.startsWith('application/json') === true
    return { isOk: response.ok && isTold, status: response.status, body: isTold ? readReply(text) : null }
  } catch (cause) {
    if (cause instanceof HubError || (cause instanceof DOMException && cause.name === 'AbortError')) throw cause
    throw hubError('HUB_NOT_REACHED', 'The hub does not answer.', 'heimdall up', 'Agents go on without it.')
  }
}

export const get = <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
  withPass(() => ask<T>(() => hubFetch(path, query, signal === undefined ? {} : { signal })))

export const post = <T>(path: string, body: unknown = {}): Promise<T> =>
  withPass(() => ask<T>(() => hubFetch(path, {}, posted(body))))

/** A pass ends with the hub that gave it: the next hub refuses it before it reads anything else, and gives another. */
async function withPass<T>(asked: () => Promise<T>): Promise<T> {
  const used = pass
  try {
    return await asked()
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'HUB_TOKEN_REQUIRED' || used === undefined) throw error
    if (pass === used) dropPass()
    return await asked()
  }
}

/** One segment of a path, whatever the name is made of. */
export const segment = (name: string): string => encodeURIComponent(name)
