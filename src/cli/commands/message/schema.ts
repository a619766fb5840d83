// heimdall message schema: the schema that messages are checked against, as it is published.
import { publishedSchema } from '../../../briefing/messages.ts'
import type { Run } from '../../command.ts'
import type { messageSchema } from '../../table/briefing.ts'

export const run: Run<typeof messageSchema> = async () => {
  const schema = publishedSchema()
  return await Promise.resolve({ data: { schema }, text: JSON.stringify(schema, null, 2) })
}
