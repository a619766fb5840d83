// A host as people start it: by its own name in a terminal that is none of ours.
import type { HostName } from './script.ts'
import { openPane, type Pane } from '../tmux.ts'
import { READY } from './in-terminal.ts'
import type { PreparedHost } from './prepared.ts'

export interface HostPane extends Pane {
  /** Types the words and, once they are there, Enter. */
  prompt(words: string): Promise<void>
  enter(): Promise<void>
}

const DOWN = '\u001b[B'

/** Resolves when the host takes prompts. `trusts`: Codex has found new hooks, and a person says yes at its own prompt. */
export async function inPane(host: PreparedHost, options: { readonly trusts?: boolean } = {}): Promise<HostPane> {
  const pane = await openPane(host.interactive(), { cols: 120, rows: 40, env: host.env, cwd: host.project.root })
  const self: HostPane = {
    ...pane,
    enter: () => pane.type('\r'),
    async prompt(words) {
      await pane.type(words)
      await pane.see(words)
      await self.enter()
    },
  }
  if (options.trusts === true) await trustHooks(self)
  await pane.see(READY[host.name])
  return self
}

async function trustHooks(pane: HostPane): Promise<void> {
  await pane.see('Hooks need review')
  await pane.type(DOWN)
  await pane.see(/› 2\. Trust all and continue/)
  await pane.enter()
  await pane.see(/OpenAI Codex/)
}

/** What each host has on its screen while it asks for leave to run a command. */
export const ASKS: Readonly<Record<HostName, string>> = {
  claude: 'Do you want to proceed?',
  codex: 'Would you like to run the following command?',
  gemini: 'Allow execution',
}
