// A box over the page: focus goes in, stays in, and back to where it was.
import { type ReactNode, useEffect, useRef } from 'react'
import { useKeys } from '../shell/keys.tsx'

const REACHABLE = 'button:not(:disabled),a[href],input:not(:disabled),textarea,select,[tabindex="0"]'

export function Dialog({
  label,
  onClose,
  children,
}: {
  readonly label: string
  readonly onClose: () => void
  readonly children: ReactNode
}): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  useKeys({ Escape: onClose }, true)
  useEffect(() => {
    const before = document.activeElement
    const first =
      box.current?.querySelector<HTMLElement>('[data-first],input,textarea') ??
      box.current?.querySelector<HTMLElement>(REACHABLE)
    first?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const stay = (event: React.KeyboardEvent): void => {
    if (event.key !== 'Tab') return
    const reachable = [...(box.current?.querySelectorAll<HTMLElement>(REACHABLE) ?? [])]
    const edge = event.shiftKey ? reachable[0] : reachable.at(-1)
    if (document.activeElement !== edge) return
    event.preventDefault()
    ;(event.shiftKey ? reachable.at(-1) : reachable[0])?.focus()
  }
  return (
    <div
      className="dialog-ground"
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose()
      }}
    >
      <div className="dialog" role="dialog" aria-modal="true" aria-label={label} ref={box} onKeyDown={stay}>
        {children}
      </div>
    </div>
  )
}
