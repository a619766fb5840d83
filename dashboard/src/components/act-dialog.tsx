// A dialog that asks before something is done: fields, one button that names the act, and why it failed.
import type { ReactNode } from 'react'
import type { HubError } from '../data/hub-error.ts'
import { Button } from './controls.tsx'
import { Dialog } from './dialog.tsx'

interface ActDialogProps {
  readonly title: string
  /** Names the act. */
  readonly verb: string
  /** Blue starts something; rose takes something away. */
  readonly kind: 'start' | 'harm'
  readonly isReady: boolean
  readonly error: HubError | null
  readonly onAct: () => void
  readonly onClose: () => void
  /** Beside the buttons. */
  readonly beside?: ReactNode
  /** What is to be filled in. */
  readonly children: ReactNode
}

export function ActDialog({
  title,
  verb,
  kind,
  isReady,
  error,
  onAct,
  onClose,
  beside,
  children,
}: ActDialogProps): ReactNode {
  return (
    <Dialog label={title} onClose={onClose}>
      <form
        className="keys"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) onAct()
        }}
      >
        <h2>{title}</h2>
        {children}
        {error !== null && (
          <p className="is-clash" role="alert">
            ✕ {error.code}: {error.message} {error.hint}
          </p>
        )}
        <div className="row">
          <button type="submit" className={`button ${kind}`} disabled={!isReady}>
            {verb}
          </button>
          {beside}
          <Button kind="plain" onPress={onClose}>
            Leave it
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
