// What has changed between two pictures, for one who has seen the first. Pure.
import type { AgentCard, LiveEvents, WaitCard } from '../contract.ts'
import type { Picture } from './picture.ts'

type State = LiveEvents['state']

/** Remembers as text what was told, because that is what can be compared. */
export class SeenState {
  #agents = new Map<string, string>()
  #waits = new Map<string, string>()
  #order = ''
  #totals = ''
  #banners = ''
  #isFirst = true

  /** Nothing when there is nothing new. */
  next({ at, agents, waits, totals, banners }: Picture): State | undefined {
    const changedAgents = changes(this.#agents, agents, ({ agent_id: id }) => id)
    const changedWaits = changes(this.#waits, waits, ({ wait_id: id }) => id)
    const order = agents.map(({ agent_id: id }) => id)
    const isNew = {
      order: this.#order !== JSON.stringify(order),
      totals: this.#totals !== JSON.stringify(totals),
      banners: this.#banners !== JSON.stringify(banners),
    }
    const patch: State = {
      at,
      whole: this.#isFirst,
      agents: changedAgents.put,
      agents_gone: changedAgents.gone,
      order: isNew.order ? order : null,
      waits: changedWaits.put,
      waits_gone: changedWaits.gone,
      totals: isNew.totals ? totals : null,
      banners: isNew.banners ? [...banners] : null,
    }
    const hasNews =
      this.#isFirst ||
      patch.agents.length + patch.waits.length + patch.agents_gone.length + patch.waits_gone.length > 0 ||
      isNew.order ||
      isNew.totals ||
      isNew.banners
    this.#agents = changedAgents.now
    this.#waits = changedWaits.now
    this.#order = JSON.stringify(order)
    this.#totals = JSON.stringify(totals)
    this.#banners = JSON.stringify(banners)
    this.#isFirst = false
    return hasNews ? patch : undefined
  }
}

interface Changes<T> {
  readonly now: Map<string, string>
  readonly put: T[]
  readonly gone: string[]
}

function changes<T extends AgentCard | WaitCard>(
  before: ReadonlyMap<string, string>,
  all: readonly T[],
  idOf: (one: T) => string,
): Changes<T> {
  const now = new Map(all.map((one) => [idOf(one), JSON.stringify(one)]))
  return {
    now,
    put: all.filter((one) => before.get(idOf(one)) !== now.get(idOf(one))),
    gone: [...before.keys()].filter((id) => !now.has(id)),
  }
}
