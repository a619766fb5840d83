// baselines.json: for each role the cost of a wave without this protocol, the number to beat.
import { isoSeconds } from '../clock.ts'
import { isObject } from '../plain-object.ts'
import { FILES, type Planning } from './planning.ts'
import { readTable, type TableFile, updateTable } from './state-file.ts'
import { assertMeasured, type Measured } from './tokens.ts'
import { checkText } from './values.ts'

interface Source {
  readonly source: 'measured' | 'declared'
  readonly tokenizer: string | null
  readonly ts: string
}

export interface Baseline extends Partial<Source> {
  readonly tokens: number
}

export const BASELINES: TableFile<Map<string, Source>> = {
  file: FILES.baselines,
  field: 'baselines',
  writeValue: Number,
  readExtra(raw) {
    const entries = isObject(raw['sources']) ? Object.entries(raw['sources']) : []
    return new Map(
      entries.flatMap(([role, entry]) =>
        isObject(entry) && typeof entry['ts'] === 'string'
          ? [
              [
                role,
                {
                  source: entry['source'] === 'measured' ? 'measured' : 'declared',
                  tokenizer: typeof entry['tokenizer'] === 'string' ? entry['tokenizer'] : null,
                  ts: entry['ts'],
                },
              ] as const,
            ]
          : [],
      ),
    )
  },
  writeExtra: (sources) => ({ sources: Object.fromEntries(sources) }),
}

export function readBaselines(planning: Planning): Map<string, Baseline> {
  const { entries, extra } = readTable(planning, BASELINES)
  return new Map(
    [...entries].flatMap(([role, text]) => {
      const tokens = Number(text)
      return Number.isFinite(tokens) ? [[role, { tokens, ...extra.get(role) }]] : []
    }),
  )
}

export async function declareBaseline(planning: Planning, role: string, tokens: number): Promise<void> {
  await write(planning, role, tokens, { source: 'declared', tokenizer: null })
}

export async function measureBaseline(planning: Planning, role: string, measured: Measured): Promise<void> {
  assertMeasured(measured)
  await write(planning, role, measured.tokens, { source: 'measured', tokenizer: measured.tokenizer })
}

async function write(planning: Planning, role: string, tokens: number, source: Omit<Source, 'ts'>): Promise<void> {
  checkText('--role', role, 256)
  await updateTable(planning, BASELINES, ({ entries, extra }) => {
    entries.set(role, String(tokens))
    extra.set(role, { ...source, ts: isoSeconds(planning.clock.wallMs()) })
    return true
  })
  planning.log('ledger', 'baseline', `${role}=${tokens}`)
}
