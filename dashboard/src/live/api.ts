// Requests to the hub: one way in, one kind of error.
import type { RefusalReply } from '../../../src/hub/contract.ts'
import { passNow } from './pass.ts'

/** What the hub refused, or that it was not reached. */
export class HubError extends Error {
  readonly code: string
  readonly hint: string | null
  readonly stillWorks: string | null

  constructor(error: RefusalReply['error']) {
    super(error.message)
    this.code = error.code
    this.hint = error.hint
    this.stillWorks = error.still_works
  }
}

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

/** Of what a browser opens without headers of ours: the feed, a terminal. */
export const streamAddress = (path: string): string => hubAddress(path, { pass: passNow() })

/** As the hub's own page asks. */
export const hubFetch = (path: string, query: Query = {}, init: RequestInit = {}): Promise<Response> =>
  fetch(hubAddress(path, query), {
    credentials: 'same-origin',
    ...init,
    headers: { ...(init.headers as Readonly<Record<string, string>> | undefined), 'x-heimdall-pass': passNow() },
  })

async function ask<T>(path: string, query: Query, init: RequestInit): Promise<T> {
  const { isOk, status, body } = await answerTo(path, query, init)
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
async function answerTo(path: string, query: Query, init: RequestInit): Promise<HubAnswer> {
  try {
    const response = await hubFetch(path, query, init)
    const text = await response.text()
    // What was too long to be read at all is refused without a word.
    const isTold = response.headers.get('content-type')?.startsWith('application/json') === true
    return { isOk: response.ok && isTold, status: response.status, body: isTold ? readReply(text) : null }
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new HubError({
      code: 'HUB_NOT_REACHED',
      message: 'The hub does not answer.',
      hint: 'heimdall up',
      still_works: 'Agents go on without it.',
    })
  }
}

export const get = <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
  ask<T>(path, query, signal === undefined ? {} : { signal })

export const post = <T>(path: string, body: unknown = {}): Promise<T> =>
  ask<T>(path, {}, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** One segment of a path, whatever the name is made of. */
export const segment = (name: string): string => encodeURIComponent(name)
