// heimdall approvals deny: a person answers a question of an agent's policy.
import type { Run } from '../../command.ts'
import type { approvalsDeny } from '../../table/policy.ts'
import { answer } from './answer.ts'

export const run: Run<typeof approvalsDeny> = async (context, { args, flags }) =>
  answer(context, args.id, 'deny', flags)
