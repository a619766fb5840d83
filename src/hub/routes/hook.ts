// Hooks of hosts that call an address, answered without starting a process: the same function as the spawned hook. An agent waits for each of them, so they take the short way past the framework that serves the page.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../clock.ts'
import { treeByParents } from '../../coordination/who/place.ts'
import { pidOf, type ProcessRef, processRef } from '../../coordination/who/process-ref.ts'
import { HeimdallError } from '../../errors.ts'
import { HOOK_HOSTS } from '../../hosts/hooks/hook-table.ts'
import { HUB_BODY_BYTES_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { answerHook } from '../../spine/hooks/answer-hook.ts'
import { pathOf } from '../door/http-door.ts'
import { Peers } from '../door/peer-process.ts'
import { refusedBy } from '../door/reply.ts'

export interface HookDesk {
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
  readonly onBug: (error: unknown) => void
}

/** Who calls by a connection. */
interface Caller {
  readonly pid: number
  readonly tree: ProcessRef | undefined
}

export class Hooks {
  readonly #desk: HookDesk
  readonly #peers = new Peers()
  readonly #callers = new WeakMap<object, Caller>()

  constructor(desk: HookDesk) {
    this.#desk = desk
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      reply(response, 200, await this.#answer(request))
    } catch (error) {
      // Whoever went away in the middle of it is gone.
      if (request.destroyed && !request.complete) return
      if (!(error instanceof HeimdallError)) this.#desk.onBug(error)
      const { status, body } = refusedBy(error)
      // What is left of a body that is too long is not waited for.
      if (!request.complete) response.setHeader('Connection', 'close')
      reply(response, status, JSON.stringify(body))
    }
  }

  async #answer(request: IncomingMessage): Promise<string> {
    const host = HOOK_HOSTS.find((known) => pathOf(request) === `/hook/${known}`)
    if (host === undefined || request.method !== 'POST')
      throw new HeimdallError('HUB_NOT_FOUND', `hooks are known of ${HOOK_HOSTS.join(', ')}, by POST`)
    const text = await textOf(request)
    // Nobody is answered in another's name: without the process that asks there is only the spawned hook.
    const caller = this.#callerOf(request)
    if (caller === undefined) throw new HeimdallError('PROCESSES_UNREADABLE', 'who asks cannot be told')
    const { env, clock, note } = this.#desk
    const isStrict = /[?&]strict=1(?:&|$)/.test(request.url ?? '')
    const { stdout, stderr } = await answerHook({ host, text, isStrict, ...caller, env, cwd: '/', clock })
    if (stderr !== '') note(`hook of ${host}: ${stderr}`)
    return stdout === '' ? '{}' : stdout
  }

  /** A process does not move to another tree, so that is looked up once, for as long as the tree is there. */
  #callerOf({ socket }: IncomingMessage): Caller | undefined {
    const pid = this.#peers.of(socket)
    if (pid === undefined) return undefined
    const known = this.#callers.get(socket)
    if (known?.pid === pid && known.tree !== undefined && processRef(pidOf(known.tree)) === known.tree) return known
    const caller = { pid, tree: treeByParents(pid) }
    this.#callers.set(socket, caller)
    return caller
  }
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

/** By its events: an agent waits for this, and an iterator costs as much as all else that HTTP does here. */
function textOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    request.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes <= HUB_BODY_BYTES_MAX) return void parts.push(part)
      request.pause()
      reject(new HeimdallError('HUB_REQUEST_INVALID', `a body of more than ${HUB_BODY_BYTES_MAX} bytes`))
    })
    request.once('end', () =>
      resolve((parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString('utf8')),
    )
    request.once('error', reject)
    // Whoever goes away before the end sends no end; after it, nobody listens to this any more.
    request.once('close', () => reject(new HeimdallError('HUB_REQUEST_INVALID', 'the body was cut')))
  })
}
