export { handler } from '../../contracts/fixture.ts'
