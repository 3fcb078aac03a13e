"""What is known of a rule: `references` reads from source code what guards and tests it, `facts` has it all."""
