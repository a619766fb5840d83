// The six message types of seed 000 as one schema object: the validator and the published message-schema.json are both made from it.
import { z } from 'zod'
import { PROTOCOL_VERSION } from './state-file.ts'

// Lengths are patterns and not `max()`: a pattern counts code points in zod and in every validator, `max()` UTF-16 units.
// The classes are spelled out because `\p{…}` crashes Python's validators, and `(?!\n)` is there because `$` also matches
// before a last newline in Python. No control characters: a message is one line.
const pattern = (allowed: string, min: number, max: number) =>
  z
    .string()
    .regex(new RegExp(`^(?:[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]${allowed}){${min},${max}}$(?!\\n)`, 'u'))
const text = (min: number, max: number) => pattern('', min, max)
const name = text(0, 256)
const required = text(1, 256)
/** A question or a reason; it may have several lines. */
const prose = pattern('|[\\t\\n]', 1, 4000)
const names = z.array(name).max(256)

const common = { from: required, msg_id: required, reply_to: name.optional(), ts: text(0, 64).optional() }

const shape = <T extends string, S extends z.ZodRawShape>(type: T, fields: S) =>
  // Fields that a later minor version adds are accepted, whatever they hold; the message is bounded as a whole.
  z.object({ type: z.literal(type), ...common, ...fields }).catchall(z.unknown())

export const messageSchema = z.discriminatedUnion('type', [
  shape('task_claim', { task: name, symbols: names.optional(), capsules: names.optional() }),
  shape('task_result', {
    task: name,
    status: z.enum(['pass', 'fail', 'partial']),
    criteria: z.array(z.int()).max(256).optional(),
    commit: name.optional(),
    capsule: name.optional(),
  }),
  shape('gate_report', {
    gate_id: name,
    status: z.enum(['pass', 'fail']),
    report_ref: text(0, 1024).optional(),
    wave: name.nullable().optional(),
  }),
  shape('escalation', {
    reason: prose,
    severity: z.enum(['blocker', 'warning', 'info']),
    refs: names.optional(),
  }),
  shape('question', { question: prose, refs: names.optional() }),
  shape('checkpoint', {
    wave: name,
    state: z.enum(['started', 'in_progress', 'complete', 'blocked']),
    capsules: names.optional(),
  }),
])

export type Message = z.infer<typeof messageSchema>

export const MESSAGE_TYPES: readonly string[] = messageSchema.options.map((option) => option.shape.type.value)

/** What the base fields alone must be, for a message whose type is not known. */
export const baseSchema = z.object(common).catchall(z.unknown())

/** message-schema.json, draft-07, with the version in its `$id` as the seed has it. */
export function publishedSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(messageSchema, { target: 'draft-7' })
  return {
    $schema,
    $id: `https://heimdall/protocol/message-schema-${PROTOCOL_VERSION}.json`,
    title: 'Heimdall protocol message',
    ...schema,
  }
}
