// A host in a supervised terminal of ours, as `heimdall run` starts it: what its screen shows, keys, and what the session says of it.
import type { Spine } from '../../spine/spine.ts'
import type { Json } from '../shim-client.ts'
import { until } from '../wait.ts'
import type { PreparedHost } from './prepared.ts'
import type { HostName } from './script.ts'

export interface HostTerminal {
  readonly session: string
  readonly runId: string
  screen(): Promise<string>
  /** Resolves when the host takes prompts. */
  ready(): Promise<void>
  /** Resolves when the session says so of a person. */
  needsInput(value: boolean): Promise<Json>
  /** Resolves with the screen as soon as it shows the words. */
  see(words: string | RegExp): Promise<string>
  /** Types the words and, once they are there, Enter: Gemini takes an Enter that comes at once for pasted text. */
  prompt(words: string): Promise<void>
  /** Presses a key by its name; Enter takes what a question proposes, and all three hosts propose to go on. */
  press(key: string): Promise<void>
  /** `hm status`. */
  status(): Promise<Json>
  end(): Promise<void>
}

export const READY: Record<HostName, RegExp> = { claude: /❯/, codex: /›/, gemini: /Type your message/ }

export async function inTerminal(
  project: Spine,
  host: PreparedHost,
  agent: string,
  flags: readonly string[] = [],
): Promise<HostTerminal> {
  const { env } = host
  const started = await project.json(['run', '--agent', agent, '--detach', '--', ...host.interactive(flags)], { env })
  const ask = (...args: string[]): Promise<Json> => project.json(['hm', ...args], { env })
  const self: HostTerminal = {
    session: agent,
    runId: String(started['run_id']),
    screen: async () => ((await ask('peek', agent))['lines'] as string[]).join('\n'),
    ready: async () => void (await self.see(READY[host.name])),
    async needsInput(value) {
      let last: Json = {}
      return until(
        `needs_input to be ${value}`,
        async () => {
          last = await self.status()
          const needs = last['needs_input'] as { value: boolean }
          return needs.value === value ? last : undefined
        },
        { context: () => JSON.stringify(last) },
      )
    },
    async see(words) {
      let last = ''
      return until(
        `the screen to show ${String(words)}`,
        async () => {
          last = await self.screen()
          const isThere = typeof words === 'string' ? last.includes(words) : words.test(last)
          return isThere ? last : undefined
        },
        { context: () => last },
      )
    },
    async prompt(words) {
      await ask('send', agent, words)
      await self.see(words)
      await self.press('enter')
    },
    press: async (key) => void (await ask('send', agent, '--key', key)),
    status: () => ask('status', agent),
    end: async () => void (await ask('kill', agent)),
  }
  return self
}
