// Where the bindings of secrets are written.
import type { Env } from '../../paths.ts'

export type BindingsOrigin =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'text'; readonly text: string; readonly name: string }
  | { readonly kind: 'none' }

/** Where bindings come from, by the flag, then by the origin's variables, of which the file wins. */
export function bindingsOrigin(flag: string | undefined, env: Env): BindingsOrigin {
  const { SUB_SECRET_BINDINGS_FILE: file, SUB_SECRET_BINDINGS: text } = env
  if (flag !== undefined) return { kind: 'file', path: flag }
  if (file !== undefined && file.trim() !== '') return { kind: 'file', path: file.trim() }
  if (text === undefined || text.trim() === '') return { kind: 'none' }
  return { kind: 'text', text, name: 'SUB_SECRET_BINDINGS' }
}
