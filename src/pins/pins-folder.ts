// Where pins lie. Apart from what reads them: whoever only wants to know whether there are any loads nothing else.
import { type Env, stateFolder } from '../paths.ts'

export const pinsDir = (env: Env): string => stateFolder(env, 'pins')
