// The life of claims as a model: plain arrays and one rule at a time, with no knowledge of stores, globs or clocks.

const MINUTE = 60_000
const STALE_MS = 15 * MINUTE
const CAP_MS = 1_440 * MINUTE

/** Scopes of the test, and the paths that each covers: overlap here is a matter of looking. */
export const UNIVERSE: Readonly<Record<string, readonly string[]>> = {
  'src/lib': ['src/lib/a.ts', 'src/lib/b.js'],
  'src/lib/*': ['src/lib/a.ts', 'src/lib/b.js'],
  'src/lib/a.ts': ['src/lib/a.ts'],
  'src/**/*.ts': ['src/lib/a.ts', 'src/c.ts'],
  'src/{c,d}.ts': ['src/c.ts'],
  'docs/*.md': ['docs/x.md'],
  'docs/[xy].md': ['docs/x.md'],
}
export const SCOPES = Object.keys(UNIVERSE)
/** Two spellings of one scope. */
const same = (a: string, b: string): boolean => a.replace(/\/\*$/, '') === b.replace(/\/\*$/, '')

export type Liveness = 'active' | 'stale' | 'evicted'

interface ModelAgent {
  beatMono: number
  beatWall: number
  boot: number
  /** Age at first sight and when that was, once a reboot lies between. */
  seen: { ageMs: number; mono: number } | undefined
  isRevoked: boolean
  isEnded: boolean
  task: string | undefined
}

export interface ModelClaim {
  readonly holder: string
  readonly scopes: readonly string[]
  ttl: number
  grantedMono: number
  grantedWall: number
  grantedBoot: number
}

export class ClaimModel {
  mono = 0
  wall = 0
  boot = 1
  readonly agents = new Map<string, ModelAgent>()
  claims: ModelClaim[] = []

  register(name: string): void {
    this.agents.set(name, { ...this.#beat(), isRevoked: false, isEnded: false, task: undefined })
  }

  #beat(): Pick<ModelAgent, 'beatMono' | 'beatWall' | 'boot' | 'seen'> {
    return { beatMono: this.mono, beatWall: this.wall, boot: this.boot, seen: undefined }
  }

  agent(name: string): ModelAgent {
    const agent = this.agents.get(name)
    if (agent === undefined) throw new Error(`no agent ${name}`)
    return agent
  }

  /** The code with which an act of this agent is refused, or nothing; an act that is not refused is a beat. */
  act(name: string): string | undefined {
    const agent = this.agent(name)
    if (agent.isRevoked) return 'AGENT_REVOKED'
    if (agent.isEnded) return 'IDENTITY_ENDED'
    Object.assign(agent, this.#beat())
    return undefined
  }

  silence(name: string): number {
    const { boot, beatMono, seen } = this.agent(name)
    if (boot === this.boot) return this.mono - beatMono
    return (seen?.ageMs ?? 0) + this.mono - (seen?.mono ?? this.mono)
  }

  /** From here on monotonic readings of before mean nothing; what is seen first is the wall. */
  reboot(): void {
    this.boot += 1
    for (const agent of this.agents.values())
      agent.seen = { ageMs: Math.max(0, this.wall - agent.beatWall), mono: this.mono }
  }

  liveness(name: string): Liveness {
    const silent = this.silence(name)
    return silent < STALE_MS ? 'active' : silent < 2 * STALE_MS ? 'stale' : 'evicted'
  }

  isLapsed(claim: ModelClaim): boolean {
    const grantedAgo =
      claim.grantedBoot === this.boot ? this.mono - claim.grantedMono : Math.max(0, this.wall - claim.grantedWall)
    return this.silence(claim.holder) >= claim.ttl * MINUTE || grantedAgo >= CAP_MS
  }

  conflicts(name: string | undefined, scopes: readonly string[]): ModelClaim[] {
    const wanted = new Set(scopes.flatMap((scope) => UNIVERSE[scope] ?? []))
    return this.claims.filter(
      (claim) =>
        claim.holder !== name &&
        claim.scopes.some((scope) => UNIVERSE[scope]?.some((path) => wanted.has(path)) === true),
    )
  }

  /** What is granted, and from whom it is taken; or who is in the way. */
  claim(
    name: string,
    scopes: readonly string[],
    ttl: number,
    mode: 'plain' | 'takeover' | 'archive',
  ): { granted: boolean; others: string[] } {
    const inTheWay = this.conflicts(name, scopes)
    const yields = (claim: ModelClaim): boolean =>
      this.liveness(claim.holder) !== 'active' && (mode === 'takeover' || (mode === 'archive' && this.isLapsed(claim)))
    const others = inTheWay.map(({ holder }) => holder).sort()
    if (!inTheWay.every(yields)) return { granted: false, others }
    this.claims = this.claims.filter((claim) => !inTheWay.includes(claim))
    const lease = { ttl, grantedMono: this.mono, grantedWall: this.wall, grantedBoot: this.boot }
    const held = this.claims.find((claim) => claim.holder === name && this.#sameSet(claim.scopes, scopes))
    if (held !== undefined && inTheWay.length === 0) Object.assign(held, lease)
    else this.claims.push({ holder: name, scopes: [...scopes], ...lease })
    return { granted: true, others }
  }

  #sameSet(a: readonly string[], b: readonly string[]): boolean {
    const covers = (x: readonly string[], y: readonly string[]): boolean =>
      y.every((scope) => x.some((other) => same(other, scope)))
    return covers(a, b) && covers(b, a)
  }

  /** Own claims with this scope, in any spelling. */
  owned(name: string, scope: string): ModelClaim[] {
    return this.claims.filter((claim) => claim.holder === name && claim.scopes.some((held) => same(held, scope)))
  }

  isHeldElsewhere(name: string, scope: string): boolean {
    return this.claims.some((claim) => claim.holder !== name && claim.scopes.some((held) => same(held, scope)))
  }

  drop(claims: readonly ModelClaim[]): void {
    this.claims = this.claims.filter((claim) => !claims.includes(claim))
  }

  summary(): string[] {
    return this.claims
      .map(
        (claim) =>
          `${claim.holder} ${[...new Set(claim.scopes.map((scope) => scope.replace(/\/\*$/, '')))].sort().join(' ')} ${this.liveness(claim.holder)} ${this.isLapsed(claim) ? 'lapsed' : 'live'}`,
      )
      .sort()
  }
}
