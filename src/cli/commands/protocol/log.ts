// heimdall protocol log: the last lines of protocol.log.
import { tail } from '../../../storage/protocol-log.ts'
import { unescapeColumn } from '../../../storage/columns.ts'
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import type { protocolLog } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof protocolLog> = async (context, { args }) => {
  const count = args.count ?? '20'
  if (!/^\d{1,9}$/.test(count))
    throw new HeimdallError('USAGE', `COUNT must be a whole number, got ${printable(count)}`)
  const lines = tail(planningOf(context), Number(count))
  const rows = lines.map((line) => {
    const [ts = '', actor = '', action = '', detail = ''] = line.split('\t').map(unescapeColumn)
    return { ts, actor, action, detail }
  })
  return { data: { lines: rows }, text: lines.join('\n') }
}
