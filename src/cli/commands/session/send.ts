// hm send: type a text into a session, press keys, wait.
import { openConnection } from '../../../client/connection.ts'
import { sendText } from '../../../client/send.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import { readAll } from '../../stdin.ts'
import type { send } from '../../table/session.ts'
import { refuseToAnswer } from './answering.ts'
import { ended, endpointOf, locate } from './locate.ts'

export const run: Run<typeof send> = async (context, { flags, args }) => {
  const located = await locate(context, flags, args.id)
  if (!located.isRunning) throw ended(located)
  const text = args.text === '-' ? (await readAll(context.stdin)).toString('utf8').replace(/\n$/, '') : args.text
  const keys = [...(flags.enter === true ? ['enter'] : []), ...flags.key]
  if (text === undefined && keys.length === 0)
    throw new HeimdallError('USAGE', 'nothing to send: neither a text nor a key', { hint: 'hm send --help' })
  const { clock } = context
  const connection = await openConnection(endpointOf(located), { clock })
  await refuseToAnswer(connection, located.id)
  const sent = await sendText(connection, text ?? '', {
    keys,
    clock,
    as: context.calledAs,
    ...(flags['wait-for'] === undefined ? {} : { waitFor: flags['wait-for'] }),
    ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout }),
  })
  const data = {
    id: located.id,
    written_bytes: sent.writtenBytes,
    bracketed: sent.isBracketed,
    reacted: sent.reacted,
    state: sent.state,
    needs_input: sent.needsInput,
  }
  const after = sent.state === null ? '' : `, now ${sent.needsInput === true ? 'waiting for input' : sent.state}`
  return { data, text: `Sent ${sent.writtenBytes} bytes to session ${located.id}${after}` }
}
