// What one place of a part asks another to show: a clause its operators in the flame graph, a frame its callers and
// callees, a row its node in the model's graph, and the other way round. null: there is nothing that could show it.

export class Links {
  clause: ((explanation: number, clause: number) => void) | null = null; // indices of the document's
  node: ((subject: number | null, row: number) => void) | null = null; // operators[].op; of layers an index of tensors
  row: ((subject: number | null, row: number) => void) | null = null;
  function: ((subject: number, method: string, of: number) => void) | null = null;
}
