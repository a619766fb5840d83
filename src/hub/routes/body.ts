// What a request brings along: its body, read and checked against the contract.
import type { Context } from 'hono'
import type { z } from 'zod'
import { HeimdallError } from '../../errors.ts'
import { HUB_BODY_BYTES_MAX } from '../../limits.ts'

export async function bodyOf<S extends z.ZodType>(c: Context, schema: S): Promise<z.infer<S>> {
  const result = schema.safeParse(parsed(await textOf(c)))
  if (result.success) return result.data
  throw invalid(result.error)
}

/** The same for a query. */
export function queryOf<S extends z.ZodType>(c: Context, schema: S): z.infer<S> {
  const result = schema.safeParse(c.req.query())
  if (result.success) return result.data
  throw invalid(result.error)
}

/** What was sent, within the bound. */
export async function textOf(c: Context): Promise<string> {
  const tooLong = new HeimdallError('HUB_REQUEST_INVALID', `a body of more than ${HUB_BODY_BYTES_MAX} bytes`)
  if (Number(c.req.header('content-length') ?? 0) > HUB_BODY_BYTES_MAX) throw tooLong
  // One that does not say how long it is is stopped where it gets too long.
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of c.req.raw.body ?? []) {
    bytes += part.length
    if (bytes > HUB_BODY_BYTES_MAX) throw tooLong
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new HeimdallError('HUB_REQUEST_INVALID', 'the body is no JSON', { cause: error })
  }
}

function invalid({ issues: [issue] }: z.ZodError): HeimdallError {
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
  return new HeimdallError('HUB_REQUEST_INVALID', `${where}${issue?.message ?? 'not what the contract says'}`)
}
