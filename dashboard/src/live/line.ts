// One line to the hub for every tab of a browser. A browser keeps at most six connections to one host, and a feed holds its own for as long as it is open: with a line for each tab the seventh would never load.
import type { LiveEvents, Thumbnail } from '../../../src/hub/contract.ts'

export interface LineWish {
  /** `/api/events` with the project, and nothing else. */
  readonly address: string
  readonly pass: string
  /** The last place that the page knows of; '' on a first visit. */
  readonly after: string
  /** Thumbnails of so many lines; 0 for none. */
  readonly screens: number
  /** The line may be dead without having said so. */
  readonly isAnew: boolean
}

export type LineNews =
  | { readonly name: keyof LiveEvents; readonly id: string; readonly text: string }
  | { readonly name: 'lost' }

export type TakeNews = (news: LineNews) => void

const NAMES = ['hello', 'state', 'log', 'screens'] as const satisfies readonly (keyof LiveEvents)[]

interface Tab {
  readonly take: TakeNews
  screens: number
}

/** The line of one project, and who listens to it. */
export class Line {
  #address = ''
  #pass = ''
  readonly #tabs = new Map<object, Tab>()
  #source: EventSource | undefined
  #lastId = ''
  #lines = 0
  #hello: LiveEvents['hello'] | undefined
  /** For whoever comes later: as a first message would be. */
  #state: LiveEvents['state'] | undefined
  readonly #screens = new Map<string, Thumbnail>()

  join(who: object, { address, pass, after, screens, isAnew }: LineWish, take: TakeNews): void {
    this.#address = address
    this.#pass = pass
    const known = this.#tabs.get(who)
    this.#tabs.set(who, { take, screens })
    if (this.#source === undefined && this.#lastId === '') this.#lastId = after
    const mustOpen = this.#source === undefined || this.#wanted() !== this.#lines || isAnew
    // Whoever comes to an open line is told what the others were, and to ask again for what it has missed.
    const isToldHere = this.#source !== undefined && (known === undefined || !mustOpen)
    if (isToldHere && this.#hello !== undefined && this.#state !== undefined) {
      const isReset = after !== '' && after !== this.#lastId
      this.#tell(take, 'hello', { ...this.#hello, caught_up: 0, reset: isReset })
      this.#tell(take, 'state', this.#state)
      if (screens > 0) this.#tell(take, 'screens', { screens: [...this.#screens.values()] })
    }
    if (mustOpen) this.#open()
  }

  leave(who: object): void {
    this.#tabs.delete(who)
    if (this.#tabs.size > 0) return
    this.#source?.close()
    this.#source = undefined
    this.#lastId = ''
    this.#hello = undefined
    this.#state = undefined
    this.#screens.clear()
  }

  /** As many lines as whoever wants most: all tabs show the same fleet. */
  #wanted(): number {
    return Math.max(0, ...[...this.#tabs.values()].map(({ screens }) => screens))
  }

  #open(): void {
    this.#source?.close()
    this.#lines = this.#wanted()
    const address = new URL(this.#address, location.href)
    address.searchParams.set('pass', this.#pass)
    if (this.#lastId !== '') address.searchParams.set('after', this.#lastId)
    if (this.#lines > 0) address.searchParams.set('screens', String(this.#lines))
    const source = new EventSource(address)
    this.#source = source
    for (const name of NAMES)
      source.addEventListener(name, ({ data, lastEventId }: MessageEvent<string>) => {
        if (source !== this.#source) return
        if (lastEventId !== '') this.#lastId = lastEventId
        if (name === 'hello') this.#hello = JSON.parse(data) as LiveEvents['hello']
        if (name === 'state') this.#state = merged(this.#state, JSON.parse(data) as LiveEvents['state'])
        if (name === 'screens')
          for (const screen of (JSON.parse(data) as LiveEvents['screens']).screens)
            this.#screens.set(screen.session_id, screen)
        for (const { take, screens } of this.#tabs.values())
          if (name !== 'screens' || screens > 0) take({ name, id: lastEventId, text: data })
      })
    source.addEventListener('error', () => {
      if (source !== this.#source) return
      source.close()
      this.#source = undefined
      for (const { take } of this.#tabs.values()) take({ name: 'lost' })
    })
  }

  #tell<Name extends keyof LiveEvents>(take: TakeNews, name: Name, data: LiveEvents[Name]): void {
    take({ name, id: this.#lastId, text: JSON.stringify(data) })
  }
}

/** Two messages as one: what a page would know after both. */
function merged(before: LiveEvents['state'] | undefined, state: LiveEvents['state']): LiveEvents['state'] {
  if (before === undefined || state.whole) return state
  const agents = new Map(before.agents.map((agent) => [agent.agent_id, agent]))
  for (const gone of state.agents_gone) agents.delete(gone)
  for (const agent of state.agents) agents.set(agent.agent_id, agent)
  const waits = new Map(before.waits.map((wait) => [wait.wait_id, wait]))
  for (const gone of state.waits_gone) waits.delete(gone)
  for (const wait of state.waits) waits.set(wait.wait_id, wait)
  return {
    ...before,
    at: state.at,
    whole: true,
    agents: [...agents.values()],
    waits: [...waits.values()],
    order: state.order ?? before.order,
    totals: state.totals ?? before.totals,
    banners: state.banners ?? before.banners,
  }
}
