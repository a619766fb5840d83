// Telling a person of a wait who looks at no terminal: once for each wait, without what is asked unless the person wants it, by the ways of the person's own settings.
import { type ChildProcess, spawn } from 'node:child_process'
import { basename } from 'node:path'
import type { Clock, Timer } from '../clock.ts'
import { isProgramMissing } from '../errors.ts'
import { NOTIFY_AFTER_MS, NOTIFY_SENDING_MS } from '../limits.ts'
import type { NotifySetting } from '../notify-setting.ts'
import type { Env } from '../paths.ts'
import { kindOf } from './fleet/wait-kind.ts'
import { oneLine } from './fleet/plain-words.ts'
import type { WaitStart } from '../runs/owned-run.ts'
import type { KeptRun } from './kept-run.ts'

export interface NotifierParts {
  readonly run: KeptRun
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
}

interface Message {
  readonly title: string
  readonly text: string
  readonly fields: Readonly<Record<'wait_id' | 'kind' | 'agent' | 'project' | 'since', string>> & {
    readonly asks?: string
  }
}

export class Notifier {
  readonly #parts: NotifierParts
  #timer: Timer | undefined
  #lastId: string | undefined

  constructor(parts: NotifierParts) {
    this.#parts = parts
  }

  /** What waits now. One that ends before it is worth a message is never told; one that goes on is told once. */
  look(wait: WaitStart | null): void {
    if (wait?.wait_id === this.#lastId) return
    this.#timer?.cancel()
    this.#lastId = wait?.wait_id
    if (wait === null) return
    const { clock, note } = this.#parts
    this.#timer = clock.after(NOTIFY_AFTER_MS, () => {
      this.#tell(wait).catch((error: unknown) => note(`nobody was told of a wait: ${String(error)}`))
    })
  }

  stop(): void {
    this.#timer?.cancel()
  }

  async #tell(wait: WaitStart): Promise<void> {
    const { run, env, note } = this.#parts
    const how = await settingOf(env)
    const message = messageOf(run, wait, how.content)
    const failed = (way: string) => (error: unknown) => note(`notify: ${way}: ${String(error)}`)
    await Promise.all([
      how.desktop ? onDesktop(message, env).catch(failed('desktop')) : undefined,
      how.command === null ? undefined : byCommand(how.command, message, env).catch(failed('command')),
      how.ntfy === null ? undefined : byNtfy(how.ntfy, message).catch(failed('ntfy')),
      how.webhook === null ? undefined : byWebhook(how.webhook, message).catch(failed('webhook')),
    ])
  }
}

/** Read when there is something to tell, so that a change counts at once. The person's own file alone: a project has no word in it. */
async function settingOf(env: Env): Promise<NotifySetting> {
  const { loadConfig } = await import('../config.ts')
  return (await loadConfig({ cwd: undefined, env })).notify.value as NotifySetting
}

function messageOf({ agent, project }: KeptRun, wait: WaitStart, hasContent: boolean): Message {
  const kind = kindOf(wait.evidence)
  const name = oneLine(basename(project.root))
  const asks = hasContent ? oneLine(wait.evidence ?? '') : undefined
  return {
    title: `${agent.agent_id} needs you`,
    text: asks === undefined || asks === '' ? `${kind}, ${name}` : `${kind}, ${name}: ${asks}`,
    fields: {
      wait_id: wait.wait_id,
      kind,
      agent: agent.agent_id,
      project: name,
      since: wait.started_at,
      ...(asks === undefined ? {} : { asks }),
    },
  }
}

/** Nothing where there is no desktop, or no program for it. */
async function onDesktop({ title, text }: Message, env: Env): Promise<void> {
  const isMac = process.platform === 'darwin'
  const hasDesktop = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some((value) => value !== undefined && value !== '')
  if (!isMac && !hasDesktop) return
  const script = `on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run`
  const [program, ...args] = isMac
    ? (['osascript', '-e', script, title, text] as const)
    : (['notify-send', '--app-name=heimdall', '--', title, text] as const)
  await ended(spawn(program, args, { env: { ...env }, stdio: 'ignore', timeout: NOTIFY_SENDING_MS }), isProgramMissing)
}

/** The words come as variables: nothing that an agent says becomes part of the command line. */
async function byCommand(line: string, { title, text, fields }: Message, env: Env): Promise<void> {
  const variables = Object.entries(fields).map(([name, value]) => [`HEIMDALL_WAIT_${name.toUpperCase()}`, value])
  const child = spawn('/bin/sh', ['-c', line], {
    env: { ...env, ...Object.fromEntries(variables), HEIMDALL_WAIT_TITLE: title, HEIMDALL_WAIT_TEXT: text },
    stdio: 'ignore',
    timeout: NOTIFY_SENDING_MS,
  })
  await ended(child)
}

function ended(child: ChildProcess, isIgnored: (error: Error) => boolean = () => false): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      if (isIgnored(error)) resolve()
      else reject(error)
    })
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))))
  })
}

const byNtfy = (url: string, { title, text }: Message): Promise<void> => post(url, text, { Title: title, Tags: 'bell' })

const byWebhook = (url: string, { fields }: Message): Promise<void> =>
  post(url, JSON.stringify(fields), { 'Content-Type': 'application/json' })

/** Once, and nowhere else: an address that leads on is not followed. */
async function post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const signal = AbortSignal.timeout(NOTIFY_SENDING_MS)
  const reply = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'error' })
  await reply.body?.cancel()
  if (!reply.ok) throw new Error(`the address answered ${reply.status}`)
}
