// How operators and the nodes that they execute are spoken of.

export const rules = new Map<string, string>([
  ["exact", "named by the runtime"],
  ["tensor", "makes a tensor of the model"],
  ["suffix", "a name with an addition"],
  ["inferred", "inferred from what lies around it"],
  ["none", ""],
]);

const listedNodes = 4;
export function nodesText(nodes: string[]): string {
  return nodes.length <= listedNodes ? nodes.join(", ") : `${nodes.slice(0, listedNodes).join(", ")}, and ${nodes.length - listedNodes} more`;
}
