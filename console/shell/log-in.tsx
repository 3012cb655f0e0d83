import { isLoggedIn, logOut, standing } from '../service.ts'

/** The button that ends the login, or begins one. */
export function LogInOrOut() {
  const logIn = () => {
    standing.value = { is: 'asking', isOptional: true }
  }
  return (
    <button type="button" class="quiet log" onClick={isLoggedIn.value ? logOut : logIn}>
      {isLoggedIn.value ? 'Log out' : 'Log in'}
    </button>
  )
}
