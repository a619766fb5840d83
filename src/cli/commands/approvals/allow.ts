// heimdall approvals allow: a person answers a question of an agent's policy.
import type { Run } from '../../command.ts'
import type { approvalsAllow } from '../../table/policy.ts'
import { answer } from './answer.ts'

export const run: Run<typeof approvalsAllow> = async (context, { args, flags }) =>
  answer(context, args.id, 'allow', flags)
