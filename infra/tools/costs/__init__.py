"""What a deployment on AWS costs: counted calls times list prices."""
