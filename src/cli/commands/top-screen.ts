// The screen of `heimdall top`: redrawn at each change and once a second; keys run the commands that do the same.
import { pause } from '../../clock.ts'
import { TOP_DRAW_MS, SNOOZE_MS, LET_WAIT_MS } from '../../limits.ts'
import { whoActs } from '../../person.ts'
import type { Fleet, WaitAnswer } from '../../spine/fleet/fleet.ts'
import { followFleet } from '../../spine/fleet/follow.ts'
import { typedBy } from '../../spine/fleet/choices.ts'
import { snooze } from '../../spine/fleet/snooze.ts'
import type { FleetOptions } from '../../spine/fleet/look.ts'
import type { Context } from '../command.ts'
import type { Look } from '../render/fleet-text.ts'
import { takeInput } from '../../user-terminal.ts'
import { readTypedLine } from '../stdin.ts'
import { attachUntilAnswered } from '../attach.ts'
import { runAnswer } from '../wait-answers.ts'
import { OuterTerminal, surviveClosedTerminal } from '../../sessions/view/outer-terminal.ts'
import { keysOf, ViewKeys } from '../../sessions/view/view-keys.ts'
import { boardLines, choicesFor, type BoardRow, rowsOf, type Sort, SORTS } from './top-board.ts'

interface ScreenParts {
  readonly context: Context
  readonly options: FleetOptions
  readonly look: Look
  /** The session that this terminal is inside. */
  readonly around: string | undefined
}

type Command = WaitAnswer['argv']

export class TopScreen {
  readonly #parts: ScreenParts
  readonly #terminal: OuterTerminal
  readonly #keys = new ViewKeys()
  readonly #over = new AbortController()
  #fleet: Fleet | undefined
  #selected: string | undefined
  #filter = ''
  #isFiltering = false
  #sort: Sort = SORTS[0]
  #isHelping = false
  #said = ''
  /** A command or an attached session has the terminal. */
  #isAway = false
  #releaseInput = (): void => undefined
  #failure: unknown

  constructor(parts: ScreenParts) {
    this.#parts = parts
    this.#terminal = new OuterTerminal(parts.context.stdin, parts.context.stdout)
  }

  /** Resolves when the user quits or the terminal is gone. */
  async show(): Promise<void> {
    const { context } = this.#parts
    const leave = (): void => this.#over.abort()
    surviveClosedTerminal(context)
    process.once('SIGTERM', leave).once('SIGHUP', leave).once('SIGINT', leave)
    context.stdout.on('resize', this.#draw)
    this.#takeTerminal()
    try {
      await Promise.all([this.#follow(), this.#tick()])
    } finally {
      process.off('SIGTERM', leave).off('SIGHUP', leave).off('SIGINT', leave)
      context.stdout.off('resize', this.#draw)
      this.#leaveTerminal()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async #follow(): Promise<void> {
    try {
      for await (const fleet of followFleet(this.#parts.options, this.#over.signal)) {
        this.#fleet = fleet
        this.#draw()
      }
    } finally {
      this.#over.abort()
    }
  }

  async #tick(): Promise<void> {
    const { clock } = this.#parts.context
    const { signal } = this.#over
    while (!signal.aborted) {
      this.#draw()
      await pause(clock, TOP_DRAW_MS, signal)
    }
  }

  readonly #draw = (): void => {
    if (this.#isAway || this.#fleet === undefined || this.#over.signal.aborted) return
    const { look, context } = this.#parts
    const { cols, rows } = this.#terminal
    const fleet = { ...this.#fleet, at: new Date(context.clock.wallMs()).toISOString() }
    const lines = boardLines(fleet, {
      look,
      cols,
      rows,
      selected: this.#selected,
      filter: this.#filter,
      isFiltering: this.#isFiltering,
      sort: this.#sort,
      isHelping: this.#isHelping,
      said: this.#said,
    })
    // Lines are overwritten in place, so that nothing flickers.
    const drawn = lines.map((line) => `${line}\u001b[0m\u001b[K`).join('\r\n')
    this.#terminal.write(`\u001b[?2026h\u001b[?25l\u001b[H${drawn}\u001b[J\u001b[?2026l`)
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const { bytes, act, isText } of this.#keys.read(chunk)) {
      const names = isText ? keysOf(bytes).map(({ name }) => name) : act?.is === 'key' ? [act.name] : []
      for (const name of names) this.#press(name)
    }
    this.#draw()
  }

  #press(key: string): void {
    if (this.#isAway) return
    this.#said = ''
    if (key === 'ctrl-c') this.#over.abort()
    else if (this.#isFiltering) this.#pressInFilter(key)
    else if (key === 'q' || key === '\u0004') this.#over.abort()
    else if (key === '/') this.#isFiltering = true
    else if (key === '?') this.#isHelping = !this.#isHelping
    else if (key === 'escape') {
      if (!this.#isHelping) this.#filter = ''
      this.#isHelping = false
    } else if (key === 's') this.#sort = SORTS[(SORTS.indexOf(this.#sort) + 1) % SORTS.length] ?? SORTS[0]
    else if (key === 'c') this.#runs(['heimdall', 'claim', 'list'], true)
    else if (key in STEPS) this.#move(STEPS[key] ?? 0)
    else this.#actOn(this.#row(), key)
  }

  #pressInFilter(key: string): void {
    if (key === 'enter') this.#isFiltering = false
    else if (key === 'escape') {
      this.#isFiltering = false
      this.#filter = ''
    } else if (key === 'backspace') this.#filter = this.#filter.slice(0, -1)
    else if (key.length === 1 && key >= ' ') this.#filter += key
  }

  #rows(): BoardRow[] {
    return this.#fleet === undefined ? [] : rowsOf(this.#fleet, this.#filter, this.#sort)
  }

  #row(): BoardRow | undefined {
    const rows = this.#rows()
    return rows.find(({ key }) => key === this.#selected) ?? rows[0]
  }

  #move(by: number): void {
    const rows = this.#rows()
    const at = Math.max(
      0,
      rows.findIndex(({ key }) => key === this.#selected),
    )
    this.#selected = rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.key
  }

  #actOn(row: BoardRow | undefined, key: string): void {
    if (row === undefined) return
    // Keep this row selected when the order changes.
    this.#selected = row.key
    const { agent } = row
    const session = agent?.session_id ?? null
    const [scope] = agent?.claims.flatMap(({ scopes }) => scopes) ?? []
    if (key === 'enter' || key === 't') this.#attach(row)
    else if (key === 'z') this.#snooze(row, SNOOZE_MS)
    else if (key === 'p' && session !== null) this.#runs(this.#session('peek', session, agent?.socket_dir), true)
    else if (key === 'p') this.#said = 'this agent has no terminal here'
    else if (key === 'w' && agent !== undefined) this.#runs(['heimdall', 'why', scope ?? agent.agent_id], true)
    else if (key === 'd' && agent !== undefined)
      this.#runs(['heimdall', 'events', '--agent', agent.agent_id, '--limit', '20'], true)
    else if (/^[1-9]$/.test(key)) this.#answer(row, Number(key))
  }

  #answer(row: BoardRow, number: number): void {
    const { wait, agent } = row
    const choice = choicesFor(row)[number - 1]
    if (wait === undefined || choice === undefined) {
      this.#said = wait === undefined ? 'this agent asks nothing' : `no choice ${number}`
      return
    }
    const command = (act: WaitAnswer['act']): void => {
      const found = wait.answers.find((one) => one.act === act)
      if (found !== undefined) this.#runs(found.argv, act === 'look')
    }
    const ofTask = (verb: string): void => {
      const found = wait.answers.find(({ argv: [, noun, word] }) => noun === 'task' && word === verb)
      if (found !== undefined) this.#runs(found.argv, false)
    }
    const typed = typedBy(choice.id)
    if (choice.act === 'allow') command(choice.id === 'allow_run' ? 'allow run' : 'allow')
    else if (choice.act === 'deny' || choice.act === 'ack') command(choice.act)
    // Shows the difference, with the command that approves it.
    else if (choice.act === 'approve_pin') command('look')
    else if (choice.act === 'wait') this.#snooze(row, LET_WAIT_MS)
    else if (choice.act === 'ask_holder') command('attach')
    else if (choice.act === 'answer_task') ofTask('answer')
    else if (choice.act === 'retry_task') ofTask('retry')
    else if (choice.act === 'cancel_task') ofTask('cancel')
    else if (typed !== undefined && agent?.session_id != null) {
      const send = this.#session('send', agent.session_id, agent.socket_dir)
      this.#runs([...send, typed.text, ...(typed.isLine ? ['--enter'] : [])], false)
    } else this.#attach(row)
  }

  #attach({ agent, wait }: BoardRow): void {
    const { context, around } = this.#parts
    const id = wait?.session_id ?? agent?.session_id ?? null
    const dir = agent?.socket_dir ?? null
    if (id === null || dir === null) {
      this.#said = 'this agent has no session on this machine'
      return
    }
    if (id === around) {
      this.#said = 'this terminal is inside that session'
      return
    }
    this.#away(async () => {
      // Detaches when a waiting agent continues, as heimdall next does.
      if (wait?.session_id == null) await runAnswer(context, this.#session('attach', id, dir))
      else if (await attachUntilAnswered(context, { dir, id })) this.#over.abort()
    })
  }

  #snooze({ wait }: BoardRow, forMs: number): void {
    if (wait === undefined) {
      this.#said = 'this agent does not wait'
      return
    }
    const acting = whoActs()
    if (!acting.person) {
      this.#said = `snoozing needs a human: ${acting.reason}`
      return
    }
    const { env, clock } = this.#parts.context
    const nowMs = clock.wallMs()
    snooze(env, wait.id, nowMs + forMs, nowMs)
    this.#said = `snoozed for ${forMs / 60_000} minutes: ${wait.asks}`
  }

  #session(verb: string, id: string, dir: string | null | undefined): Command {
    return ['hm', verb, id, ...(dir == null ? [] : ['--socket-dir', dir])]
  }

  /** Runs the command on the normal screen, where its output stays. */
  #runs(argv: Command, isRead: boolean): void {
    const { context } = this.#parts
    this.#away(async () => {
      context.stdout.write(`$ ${argv.join(' ')}\n`)
      const code = await runAnswer(context, argv)
      this.#said = code === 0 ? `done: ${argv.join(' ')}` : `exit ${code}: ${argv.join(' ')}`
      if (code === 0 && !isRead) return
      context.stdout.write('\nEnter goes back. ')
      await readTypedLine(context.stdin, this.#over.signal)
    })
  }

  /** Hands the terminal over until `act` is done. */
  #away(act: () => Promise<void>): void {
    this.#isAway = true
    this.#leaveTerminal()
    act()
      .catch((error: unknown) => {
        this.#failure = error
        this.#over.abort()
      })
      .finally(() => {
        this.#isAway = false
        if (!this.#over.signal.aborted) this.#takeTerminal()
        this.#draw()
      })
  }

  #takeTerminal(): void {
    this.#terminal.enter()
    this.#releaseInput = takeInput(this.#parts.context.stdin, this.#onData, () => this.#over.abort())
  }

  #leaveTerminal(): void {
    this.#releaseInput()
    this.#terminal.leave()
  }
}

const PAGE = 10
const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  'page-up': -PAGE,
  'page-down': PAGE,
  home: Number.NEGATIVE_INFINITY,
  g: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
}
