// What accumulators had counted before a call and after it, as the event of its decision says it.
import { jsonString } from './json-text.ts'
import type { LineBytes } from './line-bytes.ts'

interface CounterFields {
  readonly rule_id: string
  readonly counter: string
  readonly limit: number
}

/** No list of objects: nearly every call has some. */
export interface CounterReadings {
  readonly count: number
  /** The same object for call after call. */
  counted(at: number): CounterFields
  before(at: number): number
  after(at: number): number
}

const COUNTERS = Buffer.from(',"counters":[')
const COMMA = Buffer.from(',')
const AFTER = Buffer.from(',"after":')
const END_OF_LIST = Buffer.from(']')

/** Rules count the same things for call after call: only the numbers are new. */
export function putCounters(line: LineBytes, counters: CounterReadings): void {
  line.put(COUNTERS)
  for (let i = 0; i < counters.count; i += 1) {
    if (i > 0) line.put(COMMA)
    const around = aroundNumbers(counters.counted(i))
    line.put(around.before)
    line.value(counters.before(i))
    line.put(AFTER)
    line.value(counters.after(i))
    line.put(around.after)
  }
  line.put(END_OF_LIST)
}

interface AroundNumbers {
  readonly before: Buffer
  readonly after: Buffer
}

const around = new WeakMap<CounterFields, AroundNumbers>()

function aroundNumbers(counted: CounterFields): AroundNumbers {
  let known = around.get(counted)
  if (known === undefined) {
    const { rule_id, counter, limit } = counted
    known = {
      before: Buffer.from(`{"rule_id":${jsonString(rule_id)},"counter":"${counter}","before":`),
      after: Buffer.from(`,"limit":${limit}}`),
    }
    around.set(counted, known)
  }
  return known
}
