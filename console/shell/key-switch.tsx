import { hasKeys, turnKeys } from './press.ts'

/** Turns keys of one letter or sign on or off. */
export function KeySwitch() {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={hasKeys.value}
        onChange={({ currentTarget }) => turnKeys(currentTarget.checked)}
      />{' '}
      Letter keys
    </label>
  )
}
