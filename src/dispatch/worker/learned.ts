// What a runtime said of itself when it last began a task: its model, its tools, and which servers it reached. Kept for the next start of the worker.
import { join } from 'node:path'
import { z } from 'zod'
import { MCP_ANNOUNCE_KEPT_MS } from '../../limits.ts'
import { readJsonIfThere, writePrivate } from '../json-file.ts'
import type { HEALTH } from '../messages.ts'
import type { RuntimeInit } from '../runner/runtime.ts'

const keptSchema = z.object({
  model: z.string(),
  tools: z.array(z.string()),
  servers: z.array(z.object({ name: z.string(), status: z.string() })),
  atMs: z.number(),
})

/** A runtime's tools in the seed's words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  Bash: ['terminal'],
  Read: ['file'],
  Write: ['file'],
  Edit: ['file', 'patch'],
  WebFetch: ['browser'],
  WebSearch: ['browser'],
}

const STATES: Readonly<Record<string, (typeof HEALTH)[number]>> = {
  failed: 'failed',
  'needs-auth': 'needs_auth',
  disabled: 'disabled',
}

export class Learned {
  readonly #path: string
  #last: z.infer<typeof keptSchema> | undefined

  constructor(dir: string, workerId: string) {
    this.#path = join(dir, 'learned', `${workerId}.json`)
    const kept = keptSchema.safeParse(readJsonIfThere(this.#path))
    this.#last = kept.success ? kept.data : undefined
  }

  take({ model, tools, servers }: RuntimeInit, nowMs: number): void {
    this.#last = { model, tools: [...tools], servers: [...servers], atMs: nowMs }
    writePrivate(this.#path, JSON.stringify(this.#last))
  }

  get model(): string | undefined {
    return this.#last?.model === '' ? undefined : this.#last?.model
  }

  /** In the seed's words, and in its own; tools of MCP servers are counted with their servers. */
  get tools(): readonly string[] | undefined {
    if (this.#last === undefined || this.#last.tools.length === 0) return undefined
    const own = this.#last.tools.filter((tool) => !tool.startsWith('mcp__'))
    return [...new Set([...own.flatMap((tool) => WORDS[tool] ?? []), ...own])]
  }

  /** Servers that the runtime could not reach a moment ago, whatever a probe of ours finds. */
  unreached(nowMs: number): ReadonlyMap<string, (typeof HEALTH)[number]> {
    const last = this.#last
    const isFresh = last !== undefined && nowMs >= last.atMs && nowMs - last.atMs < MCP_ANNOUNCE_KEPT_MS
    return new Map(
      (isFresh ? last.servers : []).flatMap(({ name, status }) => {
        const state = STATES[status]
        return state === undefined ? [] : [[name, state] as const]
      }),
    )
  }
}
