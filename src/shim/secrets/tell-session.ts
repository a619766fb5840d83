// Tells the session around the agent which values its server is given, so that they stay out of the recording.
import { HeimdallError } from '../../errors.ts'

/** Before the server has them. A session that cannot be told stops nobody: what it writes is then said to be as it is shown. */
export async function tellSession(
  socketOf: () => Promise<string | undefined>,
  values: readonly string[],
  note: (line: string) => void,
): Promise<void> {
  if (values.length === 0) return
  try {
    const socket = await socketOf()
    if (socket === undefined) return
    // Most agents run in no session, and their servers are not to wait for what nobody is told by.
    const { openConnection } = await import('../../client/connection.ts')
    const connection = await openConnection(socket)
    try {
      await connection.callAs('a shim')
      await connection.secrets(values)
    } finally {
      connection.close()
    }
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    note(`the session cannot be told what is secret, so its recording may show it: ${error.message}`)
  }
}
