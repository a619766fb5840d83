// heimdall secrets list: names alone.
import { escapeControls } from '../../../ids.ts'
import { readSecrets, secretsPath } from '../../../shim/secrets/store.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { secretsList } from '../../table/secrets.ts'

export const run: Run<typeof secretsList> = async (context) => {
  const path = secretsPath(context.env, context.cwd)
  const secrets = [...readSecrets(path)]
    .map(([ref, { source, updated_at }]) => ({ ref, source: source ?? null, updated_at: updated_at ?? null }))
    .sort((a, b) => a.ref.localeCompare(b.ref))
  const rows = secrets.map(({ ref, source, updated_at: at }) => [ref, source ?? '', at ?? ''].map(escapeControls))
  return {
    data: { path, secrets },
    text:
      secrets.length === 0
        ? `No secrets are kept in ${escapeControls(path)}.`
        : renderTable(context.style, ['REF', 'SOURCE', 'UPDATED'], rows),
  }
}
