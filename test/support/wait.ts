// Waiting for something to become true: a probe repeated until a deadline that only a hung program reaches.
import type { EventEmitter } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Generous on purpose: a slow machine must not fail a test, a hung program must. A real host takes seconds of processor
 * time to start, and a minute where twenty others want the same two cores.
 */
const WAIT_MS = process.env['HEIMDALL_HOSTS'] === '1' ? 240_000 : 60_000
/** Between two looks at first. Whoever waits must not take the processor from what is waited for: a probe may use a third of the time. */
const PROBE_MS = 5
const PROBE_PAUSES = 2
/** What has not come for long may be seen a little later; and a probe that was itself held up says nothing of its cost. */
const PROBE_MS_MAX = 50
const PROBE_PAUSE_MS_MAX = 250

export interface WaitOptions {
  readonly waitMs?: number
  /** Added to the message when the deadline passes, such as the output of the program so far. */
  readonly context?: () => string
}

/** Resolves with the first value of `probe` that is neither undefined nor false. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitOptions = {},
): Promise<T> {
  const waitMs = options.waitMs ?? WAIT_MS
  const from = performance.now()
  for (;;) {
    const asked = performance.now()
    const value = await probe()
    if (value !== undefined && value !== false) return value
    const now = performance.now()
    if (now - from >= waitMs) throw tooLate(what, waitMs, options)
    await delay(pauseMs(now - from, now - asked))
  }
}

function pauseMs(waitedMs: number, tookMs: number): number {
  return Math.max(PROBE_MS, Math.min(PROBE_MS_MAX, waitedMs / 40), Math.min(PROBE_PAUSE_MS_MAX, PROBE_PAUSES * tookMs))
}

/** Resolves with the text of the file as soon as it exists and satisfies `accept`. */
export function waitForFile(
  path: string,
  accept: (text: string) => boolean = () => true,
  options?: WaitOptions,
): Promise<string> {
  return until(
    `file ${path}`,
    () => {
      if (!existsSync(path)) return undefined
      const text = readFileSync(path, 'utf8')
      return accept(text) ? text : undefined
    },
    options,
  )
}

export function waitForNoFile(path: string, options?: WaitOptions): Promise<true> {
  return until(`${path} to go away`, () => !existsSync(path), options)
}

/** Resolves when somebody accepts connections on the unix socket or port. */
export function waitForSocket(address: string | number, options?: WaitOptions): Promise<true> {
  return until(`socket ${address}`, () => accepts(address), options)
}

function accepts(address: string | number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = typeof address === 'number' ? connect(address, '127.0.0.1') : connect(address)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Resolves with the arguments of the next `name` event; fails at the deadline instead of hanging. */
export function waitForEvent(
  emitter: EventEmitter,
  name: string,
  options: WaitOptions & { readonly what?: string } = {},
): Promise<unknown[]> {
  const waitMs = options.waitMs ?? WAIT_MS
  return new Promise((resolve, reject) => {
    const give = (...args: unknown[]): void => {
      clearTimeout(timer)
      resolve(args)
    }
    const timer = setTimeout(() => {
      emitter.off(name, give)
      reject(tooLate(options.what ?? `event ${name}`, waitMs, options))
    }, waitMs)
    emitter.once(name, give)
  })
}

function tooLate(what: string, waitMs: number, { context }: WaitOptions): Error {
  return new Error(`waited ${waitMs} ms for ${what}${context === undefined ? '' : `\n${context()}`}`)
}
