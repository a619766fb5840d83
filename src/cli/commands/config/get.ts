// heimdall config get: one setting, for scripts.
import { CONFIG_KEYS, type ConfigKey } from '../../../config.ts'
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import { didYouMean } from '../../../suggest.ts'
import type { Run } from '../../command.ts'
import type { configGet } from '../../table/core.ts'
import { settingsOf, showValue } from './list.ts'

export const run: Run<typeof configGet> = async (context, { args }) => {
  const known = Object.keys(CONFIG_KEYS)
  if (!known.includes(args.key)) {
    throw new HeimdallError('USAGE', `unknown setting ${printable(args.key)}`, {
      hint: didYouMean(args.key, known, 'heimdall config list shows them all'),
    })
  }
  const key = args.key as ConfigKey
  const config = await settingsOf(context)
  return { data: { key, ...config[key] }, text: showValue(config[key].value) }
}
