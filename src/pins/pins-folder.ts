// Where pins lie. Apart from what reads them: whoever only wants to know whether there are any loads nothing else.
import { join } from 'node:path'
import { type Env, stateDir } from '../paths.ts'

export const pinsDir = (env: Env): string => join(stateDir(env), 'pins')
